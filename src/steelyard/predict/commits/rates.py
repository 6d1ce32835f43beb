"""Hit rate and dismiss rate, with Wilson's bounds, by benchmark and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.core.estimate import Interval
from steelyard.predict.arrays import Truths
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.wilson import wilson_interval


@dataclass(frozen=True, slots=True)
class Counts:
    """How many changes were caught, and how many runs dismissed.

    Parameters
    ----------
    hits, caught : int
        Rows where the benchmark changed, and those of them that were predicted to change.
    neutral, dismissed : int
        Rows where it did not, and those of them that were predicted not to.
    """

    hits: int
    caught: int
    neutral: int
    dismissed: int

    @property
    def hit_rate(self) -> Interval:
        """Share of changes that are caught (Oliveira 2015, section 6.4.2)."""
        return wilson_interval(self.caught, self.hits)

    @property
    def dismiss_rate(self) -> Interval:
        """Share of neutral rows that are not run (the same section)."""
        return wilson_interval(self.dismissed, self.neutral)


@dataclass(frozen=True)
class Rates:
    """Counts over all rows, by benchmark, and the macro averages of the latter.

    Parameters
    ----------
    all : Counts
        Over all rows: the micro average.
    by_benchmark : tuple of (str, Counts)
    hit_rate_macro, dismiss_rate_macro : float or None
        Means over the benchmarks that have such rows; None: no benchmark has.
    saved_s, total_s : float
        Seconds of the rows that were not run, and of all; 0 where no cost is known.
    """

    all: Counts
    by_benchmark: tuple[tuple[str, Counts], ...]
    hit_rate_macro: float | None
    dismiss_rate_macro: float | None
    saved_s: float
    total_s: float


def rate(table: PairTable, run: Truths) -> Rates:
    """The rates of predictions `run`, one for each row of a table with labels."""
    by_benchmark = _by_benchmark(table, run)
    hit_rates = [one.caught / one.hits for _, one in by_benchmark if one.hits]
    dismiss_rates = [one.dismissed / one.neutral for _, one in by_benchmark if one.neutral]
    costs = table.cost_s
    priced = costs >= 0  # Not where a cost is unknown.
    return Rates(
        Counts(*(int(kind.sum()) for kind in _kinds(table, run))),
        by_benchmark,
        _mean(hit_rates),
        _mean(dismiss_rates),
        float(costs[priced & ~run].sum()),
        float(costs[priced].sum()),
    )


def _kinds(table: PairTable, run: Truths) -> tuple[Truths, Truths, Truths, Truths]:
    """Which rows count as what, in the order of `Counts`."""
    return table.hits, table.hits & run, table.neutral, table.neutral & ~run


def _by_benchmark(table: PairTable, run: Truths) -> tuple[tuple[str, Counts], ...]:
    places = {name: place for place, name in enumerate(sorted(set(table.benchmarks)))}
    place_of = np.array([places[name] for name in table.benchmarks], np.intp)
    columns = [
        np.bincount(place_of[kind], minlength=len(places)).tolist() for kind in _kinds(table, run)
    ]
    # Many benchmarks with few rows have the same counts.
    made: dict[tuple[int, ...], Counts] = {}
    return tuple(
        (name, made.setdefault(counts, Counts(*counts)))
        for name, counts in zip(places, zip(*columns, strict=True), strict=True)
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
