"""The options of `steelyard profile record` and `report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import option
from steelyard.cli.options.option_ranges import RUNS
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.profile_options import confidence_option
from steelyard.core.errors import UsageError
from steelyard.core.sampled_events import SOFTWARE_EVENTS

DEFAULT_OUTPUT = "steelyard.profile"
# What the sampler's integers hold.
_SEED_LIMIT, _KEEP_LIMIT = 2**64 - 1, 2**32 - 1
_EVERY_LIMIT = 2**62


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """How often, for how long, and what of a program is sampled."""

    output: str = option(
        "--output",
        "-o",
        metavar="FILE",
        default=DEFAULT_OUTPUT,
        show_default=True,
        help="The profile.",
    )
    pid: int | None = option("--pid", type=RUNS, help="Watch this process instead of starting one.")
    period: str = option(
        "--period",
        metavar="TIME",
        default="1ms",
        show_default=True,
        help="Mean time between samples.",
    )
    spread: Literal["uniform", "exponential", "rounds", "fixed"] = option(
        "--spread",
        type=click.Choice(["uniform", "exponential", "rounds", "fixed"]),
        default="uniform",
        show_default=True,
        help="How the time to the next sample is drawn.",
    )
    ratio: float = option(
        "--ratio",
        type=FiniteRange(0, 1),
        default=1.0,
        show_default=True,
        help="Of uniform: the period times 1 ± this.",
    )
    seed: int | None = option(
        "--seed",
        type=click.IntRange(0, _SEED_LIMIT),
        help="Of the times; drawn and stored unless given.",
    )
    event: str = option(
        "--event",
        type=click.Choice(["cpu-clock", "cycles", *SOFTWARE_EVENTS]),
        default="cpu-clock",
        show_default=True,
        help="What is counted to the next sample; cycles needs hardware counters. Of the others "
        "each event is a sample.",
    )
    at_call: tuple[str, ...] = option(
        "--at-call",
        metavar="FUNCTION",
        multiple=True,
        help="Take a sample at each call of this function, in the place of those by time.",
    )
    at_probe: tuple[str, ...] = option(
        "--at-probe",
        metavar="PROBE",
        multiple=True,
        help="Take a sample at each pass of this static probe, PROVIDER:NAME.",
    )
    every: int | None = option(
        "--every", type=click.IntRange(1, _EVERY_LIMIT), help="Of events take one of so many."
    )
    stacks: Literal["none", "frame-pointers", "dwarf"] = option(
        "--stacks",
        type=click.Choice(["none", "frame-pointers", "dwarf"]),
        is_flag=False,
        flag_value="frame-pointers",
        default="none",
        help="Keep call chains: by frame pointers, unless =dwarf says by .eh_frame.",
    )
    paths: str | None = option(
        "--paths",
        metavar="MAP",
        help="Find call paths by this map, from registers alone: no stack is read. auto: the "
        "recording makes its own. keys: find paths later.",
    )
    library_frames: bool = option(
        "--library-frames",
        is_flag=True,
        help="With --paths: walk the frames of libraries, to charge their samples to the caller.",
    )
    walk_ambiguous: bool = option(
        "--walk-ambiguous",
        is_flag=True,
        help="With --paths MAP: walk the stack where the map has several paths, as far as tells.",
    )
    watch: bool = option(
        "--watch",
        is_flag=True,
        help="With --paths MAP: tell each key that was never learnt as soon as it is seen; exit "
        "with 1 then.",
    )
    alerts: str | None = option(
        "--alerts", metavar="FILE", help="With --watch: add each alert as a line of JSON to FILE."
    )
    threads_only: bool = option(
        "--threads-only", is_flag=True, help="Watch threads, even where CPUs may be watched."
    )
    duration: str | None = option("--duration", metavar="TIME", help="Stop after this time.")
    rotate: str | None = option(
        "--rotate", metavar="SIZE", help="Go on in FILE.1, FILE.2 ... after SIZE bytes each."
    )
    keep: int | None = option(
        "--keep",
        type=click.IntRange(1, _KEEP_LIMIT),
        help="Of those files keep the newest so many.",
    )
    java: bool | None = option(
        "--java/--no-java",
        default=None,
        help="Name the methods of Java virtual machines; by itself where CMD is java.",
    )


@dataclass(frozen=True, kw_only=True)
class ProfileReportOptions:
    """How a profile is shown, and where."""

    confidence: float = confidence_option("Of the intervals of shares.")
    apart: tuple[Literal["clones", "kernel"], ...] = option(
        "--apart",
        type=click.Choice(["clones", "kernel"]),
        multiple=True,
        help="Give rows of their own to gcc's copies of functions, or to the kernel's functions.",
    )
    path_map: str | None = option(
        "--map",
        metavar="MAP",
        help="Of a profile with --paths: look call paths up in this map, not in its own.",
    )
    static: bool = option(
        "--static",
        is_flag=True,
        help="With --paths: search the program's code for paths that were never learnt.",
    )
    candidates: str = option(
        "--candidates",
        metavar="all|N|none",
        default="all",
        show_default=True,
        help="With --paths: name all paths of an ambiguous key, its N most frequent, or none.",
    )
    html_target: str | None = option(
        "--html", metavar="FILE", help="Write a page with a flame graph."
    )
    format_name: str | None = option(
        "--format", metavar="NAME", help="Write --output in this format."
    )
    output: str | None = option(
        "--output", "-o", metavar="FILE", help="The file that --format writes; - prints."
    )
    json_target: str | None = json_option("Write JSON to FILE (- is standard output).")


def most_named(given: ProfileReportOptions) -> int | None:
    """How many candidates of an ambiguous key are named; None: all.

    Raises
    ------
    UsageError
        It is no number of candidates.
    """
    if given.candidates == "all":
        return None
    if given.candidates == "none":
        return 0
    if given.candidates.isascii() and given.candidates.isdecimal() and int(given.candidates):
        return int(given.candidates)
    raise UsageError(
        f"--candidates is all, none, or a number from 1 on; it got {given.candidates!r}.",
        field="--candidates",
    )
