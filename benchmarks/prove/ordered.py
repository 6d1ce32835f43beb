"""Proves what event studies say of the order of events, by simulation with a known truth.

    python -m benchmarks.prove.ordered [--experiments N] [--no-docs]

A row for each way in which number, order and results hang together: how often the answer says that
the order goes with the result. Writes its table into docs/STATISTICS.md. Exit status 1 where it
says so more often than `MOST_ALARMS` although only numbers matter, or less often than
`FEWEST_FOUND` where the order makes the result.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks.prove.proof_page import Proof, is_above, is_below, prove
from steelyard.analysis.events.correlation import pair_correlation
from steelyard.analysis.events.order import order_distances, order_goes_with_result
from steelyard.core.rng import derive_seed

EXPERIMENTS = 10_000
MOST_ALARMS, FEWEST_FOUND = 0.05, 0.9
PERMUTATIONS = 199
RUNS = 15
# What differs between runs: in the last two the order makes the result, elsewhere a number does.
KINDS = ("random order", "random order, numbers from 5 to 80", "loops of more rounds",
         "one kind after the other", "no influence", "order alone", "order and number")  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How often one kind of study said that the order goes with the result."""

    kind: str
    said: float
    count: int

    def problems(self) -> Iterator[str]:
        """Promises that were not kept, beyond chance."""
        matters = self.kind.startswith("order")
        bound = FEWEST_FOUND if matters else MOST_ALARMS
        said = round(self.said * self.count)
        is_wrong = is_below if matters else is_above
        if is_wrong(said, self.count, bound):
            yield f"{self.kind}: the order is said to matter in {100 * self.said:.1f} %"


def run(kind: str, generator: np.random.Generator) -> tuple[list[int], float]:
    """The events of one run in their order, and its result without noise."""
    works, others = int(generator.poisson(20)), int(generator.poisson(30))
    if kind == "loops of more rounds":
        return [0, 1, 2] * works, works
    if kind == "one kind after the other":
        return [0] * works + [1] * others, works
    if kind.startswith("order"):
        late = int(generator.integers(0, 20))
        first = works if kind == "order and number" else 20
        order = [0] * max(0, first - late) + [1] * 30 + [0] * late
        return order, late + (0.5 * first if kind == "order and number" else 0.0)
    if kind.endswith("80"):
        works, others = int(generator.integers(5, 80)), 30
    order = generator.permutation([0] * works + [1] * others).tolist()
    return order, 0.0 if kind == "no influence" else works


def simulate(kind: str, experiments: int) -> Outcome:
    """Many studies of one kind."""
    generator = np.random.default_rng(derive_seed(1, "ordered", kind))
    said = 0
    for _ in range(experiments):
        runs = [run(kind, generator) for _ in range(RUNS)]
        values = np.array([value for _, value in runs]) + generator.standard_normal(RUNS)
        apart = order_distances([order for order, _ in runs])
        found = pair_correlation(
            apart.moved_ratios, values, 0.95, generator, PERMUTATIONS, given=apart.numbers
        )
        said += order_goes_with_result(found, 0.95)
    return Outcome(kind, said / experiments, experiments)


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    lines = [
        f"### The order of events, {experiments} studies of {RUNS} runs each",
        "",
        "| runs differ in | the order is said to go with the result, % | promised |",
        "|---|---|---|",
    ]
    for outcome in outcomes:
        matters = outcome.kind.startswith("order")
        promise = f"≥ {100 * FEWEST_FOUND:g}" if matters else f"≤ {100 * MOST_ALARMS:g}"
        lines.append(f"| {outcome.kind} | {100 * outcome.said:.1f} | {promise} |")
    return lines


def problems(outcome: Outcome) -> list[str]:
    """What is wrong with one outcome, by its name."""
    return list(outcome.problems())


PROOF = Proof(
    "benchmarks.prove.ordered",
    __doc__ or "",
    "prove order",
    EXPERIMENTS,
    KINDS,
    simulate,
    report,
    problems,
)

if __name__ == "__main__":
    sys.exit(prove(PROOF))
