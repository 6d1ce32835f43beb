"""Options that several subcommands of `steelyard profile` share."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.cli.console.output import write_note
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import option
from steelyard.cli.options.option_ranges import SEED
from steelyard.cli.options.shared_options import store_option, wait_option
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.running import Place


def profilers_option() -> tuple[str, ...]:
    """The profilers that are asked for."""
    return option("--profiler", metavar="NAME", multiple=True, help="Look by this one. Repeatable.")


def commands_option() -> tuple[str, ...]:
    """The commands of profilers that want a build of their own."""
    return option(
        "--command",
        metavar="NAME=CMD",
        multiple=True,
        help="The profiler NAME runs this build of the program instead. Repeatable.",
    )


def confidence_option(help_text: str = "Of the intervals.") -> float:
    """The confidence of intervals, a share."""
    return option(
        "--confidence",
        type=FiniteRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help=help_text,
    )


def seed_option() -> int:
    """The seed of what is drawn."""
    return option("--seed", type=SEED, default=1, show_default=True, help="Of what is drawn.")


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Under which conditions the experiment of a command runs, and where it is kept."""

    quiet: bool = option(
        "--quiet", is_flag=True, help="Quiet the machine first, and undo it after."
    )
    wait: bool = wait_option()
    store: str | None = store_option("The store to keep the experiment in.")

    @property
    def knobs(self) -> tuple[str, ...]:
        """The knobs that are set while the runs last."""
        return ("default",) if self.quiet else ()

    def place(self) -> Place:
        """Where the experiment is kept, and who is told of it."""
        from steelyard.app.running import told_place

        return told_place(self.store, self.wait, write_note)


def commands_from(words: Sequence[str], known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The command of each profiler that was given its own.

    Parameters
    ----------
    words : sequence of str
        ``NAME=CMD`` each.
    known : sequence of str
        The profilers that are asked for.

    Raises
    ------
    UsageError
        One is not of this form, or names a profiler that is not asked for.
    """
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, _, command = word.partition("=")
        argv = command_words(command, "--command")
        if not argv or name not in known:
            raise UsageError(
                f"--command wants NAME=CMD with one of the profilers asked for "
                f"({', '.join(known)}); it got {word!r}.",
                field="--command",
            )
        found[name] = argv
    return found


def command_words(text: str, option: str) -> tuple[str, ...]:
    """A command as a shell splits it.

    Raises
    ------
    UsageError
        A quote is not closed.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option} cannot be read: {error}.", field=option) from None
