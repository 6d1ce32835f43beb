"""Tells what it costs in blocks that a user may go on as often as wanted.

    python -m benchmarks.prove.prices [--experiments N] [--no-docs]

Blocks until a half-width is reached: by one look that spends the whole error (as if nobody ever
went on), by the first answer of an experiment with `--precision`, and by one after going on. Exit
status 1 where the first answer costs more than 25 % more at the median.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchmarks.prove.proof_page import Proof, prove, table
from benchmarks.prove.stopped import CONFIDENCE, twin_stops
from steelyard.analysis.intervals.error_spending import (
    AFTER_RUNS_SHARE,
    ONE_LOOK,
    SEQUENCE_SHARE,
    sequence_quantile,
    spending_of,
)
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import StoppingSpec

EXPERIMENTS = 10_000
NOISES = (0.01, 0.02, 0.03, 0.05)
PRECISIONS = (0.02, 0.01, 0.005)
MOST = 1.25


@dataclass(frozen=True)
class Situation:
    """How programs vary, and the half-width that is wanted."""

    noise: float
    precision: float


@dataclass(frozen=True)
class Outcome:
    """Median blocks by each way."""

    situation: Situation
    one_look: float
    first_answer: float
    gone_on: float
    after_runs: float

    def problems(self) -> Iterator[str]:
        """The promises that are not kept."""
        if self.first_answer > MOST * self.one_look:
            yield f"{self.situation}: {self.first_answer / self.one_look:.2f} times the blocks"


def situations() -> Iterator[Situation]:
    """Every noise at every precision."""
    for noise in NOISES:
        for precision in PRECISIONS:
            yield Situation(noise, precision)


def simulate(situation: Situation, experiments: int) -> Outcome:
    """Normal times of two equal programs."""
    generator = np.random.default_rng(derive_seed(1, "prices", repr(situation)))
    deviation = situation.noise * sqrt(2.0)
    ideal = (2.2 * deviation / situation.precision) ** 2
    longest = round(1.6 * ideal) + 60
    spec = StoppingSpec(precision_ratio=situation.precision)
    stops: dict[str, list[int]] = {"one": [], "first": []}
    rows = max(1, 2_000_000 // longest)
    for start in range(0, experiments, rows):
        count = min(rows, experiments - start)
        values = 1.0 + situation.noise * generator.standard_normal((2, count, longest))
        stops["one"] += twin_stops(values, spec, ONE_LOOK).tolist()
        stops["first"] += twin_stops(values, spec, spending_of(spec, "precision")).tolist()
    return Outcome(
        situation,
        float(np.median(stops["one"])),
        float(np.median(stops["first"])),
        *(_by_sequence(deviation, situation.precision, share) for share in _LATER_SHARES),
    )


_LATER_SHARES = (SEQUENCE_SHARE, AFTER_RUNS_SHARE)


def _by_sequence(deviation: float, precision: float, share: float) -> float:
    """Blocks at which the confidence sequence is as narrow, the variance being known."""
    each = 1.0 - share * (1.0 - CONFIDENCE)
    count = 10
    while sequence_quantile(each, count) * deviation / sqrt(count) > precision:
        count += 1
    return count


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    header = (
        *("noise %", "half-width %", "one look", "first answer", "price"),
        *("after going on", "after a fixed number of runs and going on"),
    )
    title = (
        f"### Price: median blocks until a half-width is reached, {experiments} experiments each"
    )
    rows: list[Sequence[str]] = []
    for outcome in outcomes:
        asked = outcome.situation
        price = outcome.first_answer / outcome.one_look - 1.0
        cells = (
            *(f"{100 * asked.noise:g}", f"{100 * asked.precision:g}", f"{outcome.one_look:.0f}"),
            *(f"{outcome.first_answer:.0f}", f"+{100 * price:.0f} %", f"{outcome.gone_on:.0f}"),
            f"{outcome.after_runs:.0f}",
        )
        rows.append(cells)
    return [title, "", *table(header, rows), ""]


def main() -> int:
    """Simulates everything; the exit status."""
    return prove(
        Proof(
            module="benchmarks.prove.prices",
            description=__doc__ or "",
            section="prove-prices",
            experiments=EXPERIMENTS,
            situations=list(situations()),
            simulate=simulate,
            report=report,
            problems=Outcome.problems,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
