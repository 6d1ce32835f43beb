"""From what a user said of repetition levels to the levels of an experiment."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.errors import UsageError
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL, RepetitionLevel

ITERATION_LEVEL = "iteration"
_OWN_NAMES = (BUILD_LEVEL, EXECUTION_LEVEL, ITERATION_LEVEL)


@dataclass(frozen=True)
class RequestedLevels:
    """The levels of an experiment.

    Parameters
    ----------
    levels : tuple of RepetitionLevel
        Above the iterations, highest first; none where every block is an execution.
    top_level : str
        The highest one that is repeated.
    top_count : int or None
        How often, where that is fixed.
    iteration_count : int or None
        Iterations to ask of the program.
    """

    levels: tuple[RepetitionLevel, ...] = ()
    top_level: str = EXECUTION_LEVEL
    top_count: int | None = None
    iteration_count: int | None = None


def requested_levels(
    named: Sequence[str], repeat: Sequence[str], *, builds: bool, iterations: bool
) -> RequestedLevels:
    """The levels that ``--level`` and ``--repeat`` ask for.

    Parameters
    ----------
    named : sequence of str
        ``NAME`` or ``NAME=CMD``, highest first.
    repeat : sequence of str
        ``LEVEL=COUNT``: repetitions in each unit of the level above. Of the highest level, that
        many in all; one build in all is no level, because nothing is repeated.
    builds, iterations : bool
        Whether there is a build, and whether iterations are read.

    Raises
    ------
    UsageError
        A name is unknown, doubled or taken, or a count is none.
    """
    user = [_named_level(text) for text in named]
    names = [level.name for level in user]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The level {name!r} is named twice.", field="--level")
    known = [*names, *([BUILD_LEVEL] if builds else []), EXECUTION_LEVEL]
    known += [ITERATION_LEVEL] if iterations else []
    counts = _counts(repeat, known)
    above = known[: known.index(EXECUTION_LEVEL) + 1]
    if above[0] == BUILD_LEVEL and counts.get(BUILD_LEVEL) == 1:
        above = above[1:]
    top = above[0]
    if top in names and counts.get(top) == 1:
        raise UsageError(
            f"--repeat {top}=1 repeats nothing at the highest level. Leave the level out, or use "
            "--setup for a command that is run once.",
            field="--repeat",
        )
    commands = {level.name: level.command for level in user}
    levels = tuple(
        RepetitionLevel(name, None if name == top else counts.get(name, 1), commands.get(name))
        for name in above
    )
    return RequestedLevels(
        levels=levels if len(levels) > 1 else (),
        top_level=top,
        top_count=counts.get(top),
        iteration_count=counts.get(ITERATION_LEVEL),
    )


def _named_level(text: str) -> RepetitionLevel:
    name, equals, command = text.partition("=")
    if not name.replace("-", "").replace("_", "").isalnum() or not name[0].isalpha():
        raise UsageError(
            f"--level takes NAME or NAME=CMD, such as machine or reboot='./restart'; it got "
            f"{text!r}.",
            field="--level",
        )
    if name in _OWN_NAMES:
        raise UsageError(
            f"The level {name!r} is there without being named; --repeat {name}=COUNT repeats it.",
            field="--level",
        )
    if not equals:
        return RepetitionLevel(name)
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(
            f"The command of --level {name} cannot be split into words: {error}.", field="--level"
        ) from None
    if not argv:
        raise UsageError(f"--level {name}= names no command.", field="--level")
    return RepetitionLevel(name, None, argv)


def _counts(repeat: Sequence[str], known: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in repeat:
        name, _, number = text.partition("=")
        if not number.isdigit() or int(number) == 0:
            raise UsageError(
                f"--repeat takes LEVEL=COUNT, such as build=10; it got {text!r}.", field="--repeat"
            )
        if name not in known:
            raise UsageError(_unknown(name, known), field="--repeat")
        if name in counts:
            raise UsageError(f"--repeat names {name} twice.", field="--repeat")
        counts[name] = int(number)
    return counts


def _unknown(name: str, known: Sequence[str]) -> str:
    needs = {
        BUILD_LEVEL: "a --build command",
        ITERATION_LEVEL: "--iterations, which says how they are read",
    }
    if name in needs:
        return f"--repeat {name} needs {needs[name]}."
    return (
        f"--repeat names the level {name!r}; the levels are {', '.join(known)}. --level names "
        "further ones."
    )
