"""What came of the programs, as a person reads it, and whether it is what was wanted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchmarks.dimension_programs.designs import PRECISION_RATIO, Design, Found

_WANTED_RATIO = 3.0


def show(found: Found) -> None:
    """Print what came of a program."""
    execution, iteration = (f"{math.sqrt(value):.2%}" for value in found.relative)
    print(
        f"\n{found.name}: iteration {found.iteration_s * 1e3:.2f} ms, until the first kept one "
        f"{found.start_s:.2f} s; variation of execution {execution}, of iteration {iteration}"
    )
    rows = [
        ("fixed 30 x 30", found.fixed_s, found.fixed_ratio),
        (f"harness: {found.default.says}", found.default_s, found.default_ratio),
        ("1 % with 30 iterations", found.fixed_one_percent_s, PRECISION_RATIO),
        (f"1 % with {found.iteration_count} iterations", found.one_percent_s, PRECISION_RATIO),
    ]
    for name, time_s, ratio in rows:
        print(f"  {name:52} {time_s:8.1f} s   half-width {share(ratio)}")
    print(f"  side by side: {ran(found.fixed)}; {ran(found.chosen)}")
    print(
        f"  time to 1 %, fixed over chosen: predicted {found.saving:.1f}, "
        f"as it ran {found.realised_saving:.1f}; one 30 x 30 over it: "
        f"predicted {found.single:.1f}, as it ran {found.realised_single:.1f}; executions of 30 "
        f"that end at 1 % over it: predicted {found.ended_ratio:.1f}"
    )
    if found.warnings:
        print(f"  cautions: {', '.join(found.warnings)}")


def table(results: Sequence[Found]) -> None:
    """Print the results as a Markdown table."""
    heads = (
        "program",
        "executions vary by",
        "fixed 30 x 30",
        "the harness's own",
        "to 1 %, fixed",
        "to 1 %, chosen",
        "fixed, side by side",
        "chosen, side by side",
        "fixed / chosen, predicted",
        "as it ran",
        "one 30 x 30 / chosen, predicted",
        "as it ran",
    )
    print("\n| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for found in results:
        cells = (
            f"`{found.name}`",
            f"{math.sqrt(found.relative[0]):.1%}",
            f"{found.fixed_s:.1f} s, ± {share(found.fixed_ratio)}",
            f"{found.default.says}: {found.default_s:.1f} s, ± {share(found.default_ratio)}",
            f"{found.fixed_one_percent_s:.1f} s",
            f"{found.one_percent_s:.1f} s",
            ran(found.fixed),
            ran(found.chosen),
            f"{found.saving:.1f}",
            f"{found.realised_saving:.1f}",
            f"{found.single:.1f}",
            f"{found.realised_single:.1f}",
        )
        print("| " + " | ".join(cells) + " |")


def judge(results: Sequence[Found]) -> bool:
    """Print the medians, and say whether the chosen designs take a third of the time: of that to
    1 % with the fixed one, and of one 30 x 30, however wide its interval."""
    holds = True
    for what, names in (
        ("the time to 1 %, fixed over chosen", ("saving", "realised_saving")),
        ("one 30 x 30 over 1 % as chosen", ("single", "realised_single")),
    ):
        for kind, name in zip(("predicted", "as it ran"), names, strict=True):
            value = statistics.median(getattr(found, name) for found in results)
            reached = value >= _WANTED_RATIO
            holds = holds and reached
            print(
                f"median of {what}, {kind}: {value:.1f} (at least {_WANTED_RATIO:.0f}): "
                f"{'holds' if reached else 'DOES NOT HOLD'}"
            )
    ended = statistics.median(found.ended_ratio for found in results)
    print(f"median of executions of 30 that end at 1 % over 1 % as chosen, predicted: {ended:.1f}")
    return holds


def ran(design: Design | None) -> str:
    """A design as it ran."""
    if design is None:
        return "not run"
    counts = f"{len(design.means_s)} x {design.iteration_count}"
    return f"{counts}: {design.time_s:.1f} s, ± {share(design.half_width_ratio)}"


def share(value: float | None) -> str:
    """A share in percent; unbounded where there is none."""
    return "unbounded" if value is None else f"{value:.2%}"
