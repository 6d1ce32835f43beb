"""What came of the programs, as a person reads it, and whether it is what was wanted."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.dimension_programs.designs import PRECISION_RATIO, Design, Found

_WANTED_RATIO = 3.0


def show(found: Found) -> None:
    """Print what came of a program."""
    execution, iteration = (f"{value:.2%}" for value in found.variations)
    print(
        f"\n{found.name}: iteration {found.iteration_s * 1e3:.2f} ms, until the first kept one "
        f"{found.start_s:.2f} s; variation of execution {execution}, of iteration {iteration}"
    )
    rows = [
        ("fixed 30 x 30", found.fixed_s, found.fixed_ratio),
        (f"harness: {found.default.says}", found.default_s, found.default_ratio),
        (f"1 % with {found.iteration_count} iterations", found.one_percent_s, PRECISION_RATIO),
    ]
    for name, time_s, ratio in rows:
        print(f"  {name:52} {seconds(time_s):>10}   half-width {share(ratio)}")
    print(f"  side by side: {ran(found.fixed)}; {ran(found.chosen)}")
    print(
        f"  fixed over 1 %: predicted {found.fixed_over_one_percent:.1f}, "
        f"as it ran {found.realised_over_one_percent:.1f}; "
        f"saving: predicted {found.saving:.1f}, as it ran {found.realised_saving:.1f}"
    )
    if found.warnings:
        print(f"  cautions: {', '.join(found.warnings)}")


def table(results: Sequence[Found]) -> None:
    """Print the results as a Markdown table."""
    heads = (
        "program",
        "fixed 30 x 30",
        "the harness's own",
        "to 1 %, predicted",
        "fixed, side by side",
        "chosen, side by side",
        "fixed over 1 %, predicted",
        "fixed over 1 %, as it ran",
        "saving, predicted",
        "saving, as it ran",
    )
    print("\n| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for found in results:
        cells = (
            f"`{found.name}`",
            f"{found.fixed_s:.1f} s, ± {share(found.fixed_ratio)}",
            f"{found.default.says}: {found.default_s:.1f} s, ± {share(found.default_ratio)}",
            seconds(found.one_percent_s),
            ran(found.fixed),
            ran(found.chosen),
            f"{found.fixed_over_one_percent:.1f}",
            f"{found.realised_over_one_percent:.1f}",
            f"{found.saving:.1f} times",
            f"{found.realised_saving:.1f} times",
        )
        print("| " + " | ".join(cells) + " |")


def judge(results: Sequence[Found]) -> bool:
    """Print the medians, and say whether 1 % takes a third of the time of 30 x 30."""
    names = ("fixed_over_one_percent", "realised_over_one_percent", "saving", "realised_saving")
    gain, realised_gain, saving, realised = (
        statistics.median(getattr(found, name) for found in results) for name in names
    )
    print(f"\nmedian saving: predicted {saving:.1f}, as it ran {realised:.1f}")
    holds = True
    for kind, value in (("predicted", gain), ("as it ran", realised_gain)):
        holds = holds and value >= _WANTED_RATIO
        print(
            f"median of fixed over 1 %, {kind}: {value:.1f} (at least {_WANTED_RATIO:.0f}): "
            f"{'holds' if value >= _WANTED_RATIO else 'DOES NOT HOLD'}"
        )
    return holds


def ran(design: Design | None) -> str:
    """A design as it ran."""
    if design is None:
        return "not run"
    counts = f"{len(design.means_s)} x {design.iteration_count}"
    return f"{counts}: {seconds(design.time_s)}, ± {share(design.half_width_ratio)}"


def share(value: float | None) -> str:
    """A share in percent; unbounded where there is none."""
    return "unbounded" if value is None else f"{value:.2%}"


def seconds(time_s: float | None) -> str:
    """A time; none where it takes more than 1,000 executions."""
    return "-" if time_s is None else f"{time_s:.1f} s"
