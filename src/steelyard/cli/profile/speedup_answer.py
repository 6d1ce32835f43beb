"""`steelyard profile check --speedup`: whether a mended function brings what profilers promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from steelyard.cli.profile.check_options import CheckOptions
from steelyard.cli.profile.profile_options import command_words, commands_from
from steelyard.cli.profile.study_text import Targets, show_speedup
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.profile.speedup_check import Builds, SpeedupCheck

DEFAULT_RUN_COUNT = 10
_OF_DELAYS = {
    "function_count": "--functions",
    "controls": "--control",
    "delay": "--delay",
    "buffer": "--buffer",
    "amounts": "--amounts",
    "growth": "--growth",
}


def check_mended(argv: tuple[str, ...], given: CheckOptions) -> None:
    """Compare promised and measured gain as the options of `profile check` ask."""
    from steelyard.app.profile.speedup_check import check_speedup

    asked = speedup_request(argv, given)
    found = check_speedup(asked, given.study.place())
    targets = Targets(given.json_target, given.html_target)
    show_speedup(found, argv, asked.builds.after, targets)


def speedup_request(argv: tuple[str, ...], given: CheckOptions) -> SpeedupCheck:
    """What the options ask for.

    Raises
    ------
    UsageError
        They do not go together, or one cannot be read.
    """
    from steelyard.app.profile.profiler_causality import own_profiler
    from steelyard.app.profile.speedup_check import Builds, SpeedupCheck

    _refuse_options_of_delays()
    if len(given.functions) != 1:
        raise UsageError(
            "--speedup wants the one function that was made faster: --function NAME, once.",
            field="--function",
        )
    factor = given.factor
    profilers = given.profilers or (own_profiler(argv),)
    faster, own_faster = _faster_builds(given.speedup, profilers)
    own = commands_from(given.commands, profilers)
    return SpeedupCheck(
        builds=Builds(argv, faster),
        function=given.functions[0],
        profilers=profilers,
        own_builds=_own_builds(own, own_faster, Builds(argv, faster), factor),
        factor=factor,
        run_count=given.runs or DEFAULT_RUN_COUNT,
        seed=given.seed,
        confidence=given.confidence,
        quiet=given.study.knobs,
    )


def _refuse_options_of_delays() -> None:
    context = click.get_current_context()
    for name, option in _OF_DELAYS.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise UsageError(f"{option} is of delays, and --speedup delays nothing.", field=option)


def _faster_builds(
    words: Sequence[str], profilers: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The command of the mended build, and those of profilers that want their own."""
    plain: list[tuple[str, ...]] = []
    own: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, _, command = word.partition("=")
        if name in profilers:
            own[name] = command_words(command, "--speedup")
        else:
            plain.append(command_words(word, "--speedup"))
    if len(plain) != 1 or not all((*plain, *own.values())):
        raise UsageError(
            "--speedup wants the command of the build with the faster function, once, and "
            "NAME=CMD for each profiler with a build of its own.",
            field="--speedup",
        )
    return plain[0], own


def _own_builds(
    before: Mapping[str, tuple[str, ...]],
    after: Mapping[str, tuple[str, ...]],
    builds: Builds,
    factor: float | None,
) -> dict[str, Builds]:
    from steelyard.app.profile.speedup_check import Builds

    found: dict[str, Builds] = {}
    for name in {**before, **after}:
        if factor is None and (name not in before or name not in after):
            raise UsageError(
                f"The profiler {name} has a build of its own of one of the two: give it both, "
                f"--command {name}=CMD and --speedup {name}=CMD, or the --factor.",
                field="--command" if name in after else "--speedup",
            )
        found[name] = Builds(before.get(name, builds.before), after.get(name, builds.after))
    return found
