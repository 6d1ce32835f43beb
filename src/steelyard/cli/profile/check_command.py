"""`steelyard profile check`: whether what profilers say holds when acted upon."""

from __future__ import annotations

import click
from click.core import ParameterSource

from steelyard.cli.console.output import refuse_nowhere
from steelyard.cli.options.option_groups import takes
from steelyard.cli.profile.check_options import CheckOptions
from steelyard.cli.profile.profile_options import commands_from
from steelyard.cli.profile.speedup_answer import check_mended
from steelyard.cli.profile.study_text import Targets, show_slopes
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_size

# A chain through fewer lines stays in the nearest cache; what 32 bits reach is in one gigabyte
# (mmap(2), MAP_32BIT), which has other things in it too.
_SMALLEST_BUFFER, _LARGEST_BUFFER = 4 << 10, 1000 << 20
# Of each delay. Six delays make it 30 runs a slope.
_RUN_COUNT = 5


@click.command("check")
@takes(CheckOptions)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def check(given: CheckOptions, argv: tuple[str, ...]) -> None:
    """Check that what profilers say of CMD holds when acted upon.

    Functions are delayed by several amounts without moving anything; a profiler that is right
    attributes to each as much more time as the program takes longer: a slope of 1. With --speedup
    a function was made faster instead, and what profilers promise is set against what is gained.
    """
    refuse_nowhere(given.html_target, given.json_target)
    if given.speedup:
        check_mended(argv, given)
        return
    if given.factor is not None:
        raise UsageError("--factor goes with --speedup.", field="--factor")
    _show_slopes(argv, given)


def _show_slopes(argv: tuple[str, ...], given: CheckOptions) -> None:
    from steelyard.app.profile.profiler_causality import CausalCheck, check_profilers, own_profiler

    profilers = given.profilers or (own_profiler(argv),)
    asked = CausalCheck(
        argv=argv,
        functions=given.functions,
        function_count=given.function_count,
        controls=given.controls,
        profilers=profilers,
        commands=commands_from(given.commands, profilers),
        amount_count=given.amounts,
        run_count=given.runs or _RUN_COUNT,
        growth_ratio=given.growth,
        buffer_bytes=_buffer_bytes(given.delay, given.buffer),
        seed=given.seed,
        confidence=given.confidence,
        quiet=given.study.knobs,
    )
    slopes = check_profilers(asked, given.study.place())
    show_slopes(slopes, argv, given.delay, Targets(given.json_target, given.html_target))


def _buffer_bytes(delay: str, text: str) -> int:
    """The size of the memory, in whole lines of a cache; 0 for a delay that walks through none."""
    if delay != "memory":
        source = click.get_current_context().get_parameter_source("buffer")
        if source is not ParameterSource.DEFAULT:
            raise UsageError("--buffer goes with --delay memory.", field="--buffer")
        return 0
    size_bytes = parse_size(text, "--buffer")
    if not _SMALLEST_BUFFER <= size_bytes <= _LARGEST_BUFFER:
        raise UsageError(f"--buffer must be from 4k to 1000M; it got {text!r}.", field="--buffer")
    return size_bytes // 64 * 64
