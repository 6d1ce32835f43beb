"""`steelyard profile check`: whether what profilers say holds when acted upon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from steelyard.cli.console.output import (
    refuse_nowhere,
    write_json,
    write_note,
    write_page,
    write_text,
)
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.strict_options import MOST_RUNS, RUNS
from steelyard.cli.profile.profile_options import (
    commands_from,
    commands_option,
    confidence_option,
    profilers_option,
    seed_option,
)
from steelyard.cli.profile.speedup_answer import show_speedup
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_size

# A chain through fewer lines stays in the nearest cache; what 32 bits reach is in one gigabyte
# (mmap(2), MAP_32BIT), which has other things in it too.
_SMALLEST_BUFFER, _LARGEST_BUFFER = 4 << 10, 1000 << 20
# Of each delay. Six delays make it 30 runs a slope.
_RUN_COUNT = 5


@click.command("check")
@click.option(
    "--function", "functions", metavar="NAME", multiple=True, help="Delay this one. Repeatable."
)
@click.option(
    "--speedup",
    metavar="CMD",
    multiple=True,
    help="Delay nothing: CMD is a build in which the function is faster, and the gain that "
    "profilers promise is set against the one measured. NAME=CMD: of the profiler NAME.",
)
@click.option(
    "--factor",
    metavar="K",
    type=FiniteRange(1, min_open=True),
    help="With --speedup: the function became K times as fast. Otherwise that is measured.",
)
@click.option(
    "--functions",
    "function_count",
    type=RUNS,
    default=2,
    show_default=True,
    help="Unless named: draw so many of the hot ones.",
)
@click.option(
    "--control",
    "controls",
    metavar="NAME",
    multiple=True,
    help="Watch this one too, without delaying it. Repeatable.",
)
@profilers_option
@commands_option
@click.option(
    "--delay",
    type=click.Choice(["compute", "memory"]),
    default="compute",
    show_default=True,
    help="What the delay does: count down, or follow links through memory.",
)
@click.option(
    "--buffer",
    metavar="SIZE",
    default="1M",
    show_default=True,
    help="The memory that --delay memory walks through.",
)
@click.option(
    "--amounts",
    type=click.IntRange(2, MOST_RUNS),
    default=6,
    show_default=True,
    help="Different delays, none among them.",
)
@click.option(
    "--growth",
    metavar="RATIO",
    type=FiniteRange(0.1, 10),
    help="The longest delay makes the program about so many times its time longer (0.6; Java 2).",
)
@click.option(
    "--runs",
    type=RUNS,
    help="Runs of each delay (5), or with --speedup build (10).",
)
@seed_option
@confidence_option
@click.option("--html", "html_target", metavar="FILE", help="Write a page with the lines.")
@click.option(
    "--json", "json_target", metavar="FILE", help="Write JSON to FILE (- is standard output)."
)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def check(argv: tuple[str, ...], **options: Any) -> None:
    """Check that what profilers say of CMD holds when acted upon.

    Functions are delayed by several amounts without moving anything; a profiler that is right
    attributes to each as much more time as the program takes longer: a slope of 1. With --speedup
    a function was made faster instead, and what profilers promise is set against what is gained.
    """
    refuse_nowhere(options["html_target"], options["json_target"])
    if options["speedup"]:
        show_speedup(argv, options)
        return
    if options["factor"] is not None:
        raise UsageError("--factor goes with --speedup.", field="--factor")
    _show_slopes(argv, options)


def _show_slopes(argv: tuple[str, ...], options: Mapping[str, Any]) -> None:
    from steelyard.app.profile.profiler_causality import CausalCheck, check_profilers, own_profiler
    from steelyard.report.causality_text import causality_text
    from steelyard.report.json.causality import causality_document

    profilers = options["profilers"] or (own_profiler(argv),)
    asked = CausalCheck(
        argv=argv,
        functions=options["functions"],
        function_count=options["function_count"],
        controls=options["controls"],
        profilers=profilers,
        commands=commands_from(options["commands"], profilers),
        amount_count=options["amounts"],
        run_count=options["runs"] or _RUN_COUNT,
        growth_ratio=options["growth"],
        buffer_bytes=_buffer_bytes(options["delay"], options["buffer"]),
        seed=options["seed"],
        confidence=options["confidence"],
    )
    slopes = check_profilers(asked, write_note)
    if options["html_target"] is not None:
        from steelyard.report.html.causality_page import causality_page

        write_page(causality_page(slopes, argv), options["html_target"])
    write_json(causality_document(slopes, argv, options["delay"]), options["json_target"])
    if options["json_target"] != "-":
        write_text(causality_text(slopes))


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
