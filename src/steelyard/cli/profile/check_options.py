"""The options of `steelyard profile check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import group, option
from steelyard.cli.options.option_ranges import MOST_RUNS, RUNS
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.profile_options import (
    StudyOptions,
    commands_option,
    confidence_option,
    profilers_option,
    seed_option,
)


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What is delayed, or was made faster, and who looks at it."""

    functions: tuple[str, ...] = option(
        "--function", metavar="NAME", multiple=True, help="Delay this one. Repeatable."
    )
    speedup: tuple[str, ...] = option(
        "--speedup",
        metavar="CMD",
        multiple=True,
        help="Delay nothing: CMD is a build in which the function is faster, and the gain that "
        "profilers promise is set against the one measured. NAME=CMD: of the profiler NAME.",
    )
    factor: float | None = option(
        "--factor",
        metavar="K",
        type=FiniteRange(1, min_open=True),
        help="With --speedup: the function became K times as fast. Otherwise that is measured.",
    )
    function_count: int = option(
        "--functions",
        type=RUNS,
        default=2,
        show_default=True,
        help="Unless named: draw so many of the hot ones.",
    )
    controls: tuple[str, ...] = option(
        "--control",
        metavar="NAME",
        multiple=True,
        help="Watch this one too, without delaying it. Repeatable.",
    )
    profilers: tuple[str, ...] = profilers_option()
    commands: tuple[str, ...] = commands_option()
    delay: Literal["compute", "memory"] = option(
        "--delay",
        type=click.Choice(["compute", "memory"]),
        default="compute",
        show_default=True,
        help="What the delay does: count down, or follow links through memory.",
    )
    buffer: str = option(
        "--buffer",
        metavar="SIZE",
        default="1M",
        show_default=True,
        help="The memory that --delay memory walks through.",
    )
    amounts: int = option(
        "--amounts",
        type=click.IntRange(2, MOST_RUNS),
        default=6,
        show_default=True,
        help="Different delays, none among them.",
    )
    growth: float | None = option(
        "--growth",
        metavar="RATIO",
        type=FiniteRange(0.1, 10),
        help="The longest delay makes the program about so many times its time longer "
        "(0.6; Java 2).",
    )
    runs: int | None = option(
        "--runs", type=RUNS, help="Runs of each delay (5), or with --speedup build (10)."
    )
    seed: int = seed_option()
    confidence: float = confidence_option()
    study: StudyOptions = group(StudyOptions)
    html_target: str | None = option("--html", metavar="FILE", help="Write a page with the lines.")
    json_target: str | None = json_option("Write JSON to FILE (- is standard output).")
