"""What is odd about a table: named, never mended silently."""

from __future__ import annotations

import numpy as np

from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Floats
from steelyard.predict.platforms.host_table import PlatformTable

# Costs that differ by less than this (in logarithms) up to a constant are of the same benchmark.
SAME_COST = 1e-6
# A cell this many robust standard deviations off is named, if it is also off by half.
ODD_DEVIATIONS = 8.0
ODD_LOG = float(np.log(1.5))
# How far from 1000 a factor may lie and still look like milliseconds among seconds.
THOUSAND_LOG = float(np.log(1000))
THOUSAND_SLACK = float(np.log(3))
MOST_NAMED = 8


def check_table(table: PlatformTable) -> tuple[Caution, ...]:
    """Benchmarks that say nothing or the same as another, and cells that fit nothing around them.

    A cell is compared with what its host and its benchmark usually cost (medians of the rest),
    in units of how far such cells usually lie off (1.4826 times the median absolute deviation).
    """
    cautions = [*table.cautions, *_constant(table), *_duplicates(table), *_mixed_replicates(table)]
    if table.scale == "log":
        cautions += _odd_cells(table)
    return tuple(cautions)


def _constant(table: PlatformTable) -> list[Caution]:
    names = [
        name
        for name, column in zip(table.benchmarks, table.costs.T, strict=True)
        if np.isfinite(column).any() and _spread(column) <= SAME_COST
    ]
    if not names:
        return []
    return [
        Caution(
            "constant-benchmark",
            f"{_listed(names)}: the same on every host, so left out.",
        )
    ]


def _spread(column: Floats) -> float:
    """The largest less the smallest measured cost; 0 where there is none."""
    seen = column[np.isfinite(column)]
    return float(np.ptp(seen)) if len(seen) else 0.0


def _duplicates(table: PlatformTable) -> list[Caution]:
    """Pairs of columns that differ by a constant, in either direction."""
    cautions: list[Caution] = []
    for first in range(len(table.benchmarks)):
        for second in range(first + 1, len(table.benchmarks)):
            both = np.isfinite(table.costs[:, first]) & np.isfinite(table.costs[:, second])
            a, b = table.costs[both, first], table.costs[both, second]
            if both.sum() < 3 or np.ptp(a) <= SAME_COST:
                continue
            if min(np.ptp(a - b), np.ptp(a + b)) <= SAME_COST:
                cautions.append(
                    Caution(
                        "duplicate-benchmark",
                        f"{table.benchmarks[first]} and {table.benchmarks[second]} are the same "
                        "on every host up to a factor: drop one of them.",
                    )
                )
    return cautions[:MOST_NAMED]


def _mixed_replicates(table: PlatformTable) -> list[Caution]:
    """Cells whose replicates differ as far as units do."""
    deviations = np.sqrt(table.variances)
    limit = ODD_LOG if table.scale == "log" else np.inf
    found = np.argwhere(np.nan_to_num(deviations) > limit)
    return [
        Caution(
            "replicates-differ",
            f"Replicates of {table.benchmarks[column]} on {table.hosts[row]} differ by more than "
            "half: check their units and whether they are of one host.",
        )
        for row, column in found[:MOST_NAMED]
    ]


def _odd_cells(table: PlatformTable) -> list[Caution]:
    """The cells furthest off, worst first, each judged without those named before it."""
    costs = table.costs.copy()
    costs[:, [_spread(column) <= SAME_COST for column in costs.T]] = np.nan
    cautions: list[Caution] = []
    while len(cautions) < MOST_NAMED:
        rest = costs - _usual(costs)
        seen = np.isfinite(rest)
        if seen.sum() < 12:
            break
        deviation = 1.4826 * float(np.median(np.abs(rest[seen])))
        off = np.where(seen, np.abs(rest), 0.0)
        row, column = np.unravel_index(int(off.argmax()), off.shape)
        if off[row, column] < max(ODD_DEVIATIONS * deviation, ODD_LOG):
            break
        cautions.append(_odd_cell(table, int(row), int(column), float(rest[row, column])))
        costs[row, column] = np.nan
    return cautions


def _odd_cell(table: PlatformTable, row: int, column: int, off: float) -> Caution:
    value = table.natural(column, float(table.costs[row, column]))
    usual = table.natural(column, float(table.costs[row, column]) - off)
    cell = f"{table.benchmarks[column]} on {table.hosts[row]} is {value:.4g}"
    if abs(abs(off) - THOUSAND_LOG) < THOUSAND_SLACK:
        return Caution(
            "mixed-units",
            f"{cell}, about 1000 times off the {usual:.4g} that its host and benchmark suggest: "
            "milliseconds among seconds?",
        )
    return Caution(
        "odd-cell", f"{cell}; its host and benchmark suggest {usual:.4g}. Measure it again."
    )


def _usual(costs: Floats) -> Floats:
    """Host effect + benchmark effect by medians (Tukey 1977, median polish)."""
    with np.errstate(invalid="ignore"):
        usual = np.zeros_like(costs)
        for _ in range(10):
            for axis in (0, 1):
                rest = costs - usual
                empty = ~np.isfinite(rest).any(axis=axis, keepdims=True)
                filled = np.where(empty, 0.0, rest)
                usual = usual + np.nanmedian(filled, axis=axis, keepdims=True)
    return usual


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return shown + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
