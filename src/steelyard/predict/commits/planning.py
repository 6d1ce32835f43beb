"""Which benchmarks to run for which commits, within a budget, and which commits to run together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.commits.commit_answers import BenchmarkAnswer, CommitAnswer

# A program's time is unknown: every benchmark costs as much as any other.
_UNKNOWN_COST_S = 1.0
# Time grows by the product of this and the number of revisions.
MOST_IN_BATCH = 1024


@dataclass(frozen=True)
class PlannedRun:
    """One benchmark at one revision.

    Parameters
    ----------
    answer : BenchmarkAnswer
    run : bool
    cost_s : float
        1 where no cost is known.
    regret : float
        Changes that are expected to be missed if it is not run: its probability.
    """

    answer: BenchmarkAnswer
    run: bool
    cost_s: float
    regret: float


@dataclass(frozen=True)
class Batch:
    """Revisions, at most `MOST_IN_BATCH`, of which only the last is run; the others if it changed.

    Parameters
    ----------
    benchmark : str
    revisions : tuple of str
        The oldest first.
    probability : float
        That one of them changed the benchmark.
    cost_s : float
        Expected: one run, and the runs that find the revision where one changed it.
    """

    benchmark: str
    revisions: tuple[str, ...]
    probability: float
    cost_s: float


@dataclass(frozen=True)
class CommitPlan:
    """What to run.

    Parameters
    ----------
    runs : tuple of PlannedRun
        Those to run first, the most regret for its cost first.
    batches : tuple of Batch
        For benchmarks that are asked about at several revisions.
    budget_s : float or None
    """

    runs: tuple[PlannedRun, ...]
    batches: tuple[Batch, ...]
    budget_s: float | None
    answer: CommitAnswer
    kind: str = "commit-plan"

    @property
    def cost_s(self) -> float:
        """Of what is run."""
        return sum(one.cost_s for one in self.runs if one.run)

    @property
    def regret(self) -> float:
        """Changes that are expected to be missed."""
        return sum(one.regret for one in self.runs if not one.run)


def plan_runs(answer: CommitAnswer, budget_s: float | None = None) -> CommitPlan:
    """Choose runs by expected regret for their cost.

    Without a budget everything is run whose probability reaches the predictor's cutoff. With one,
    the runs with the highest ratio of probability to cost are taken as long as they fit, also such
    below the cutoff. A benchmark without any difference is never among them.
    """
    ordered = sorted(answer.benchmarks, key=lambda one: -one.probability.estimate / _cost(one))
    left = budget_s
    runs: list[PlannedRun] = []
    for one in ordered:
        cost = _cost(one)
        chosen = one.run if left is None else cost <= left and not one.quiet
        if left is not None and chosen:
            left -= cost
        runs.append(PlannedRun(one, chosen, cost, one.probability.estimate))
    runs.sort(key=lambda planned: not planned.run)
    return CommitPlan(tuple(runs), _batches(answer.benchmarks), budget_s, answer)


def _cost(one: BenchmarkAnswer) -> float:
    return one.cost_s if one.cost_s else _UNKNOWN_COST_S


def _batches(answers: Sequence[BenchmarkAnswer]) -> tuple[Batch, ...]:
    by_benchmark: dict[str, list[BenchmarkAnswer]] = {}
    for one in answers:
        by_benchmark.setdefault(one.benchmark, []).append(one)
    found: list[Batch] = []
    for benchmark, rows in by_benchmark.items():
        if len({row.unknown for row in rows}) > 1:
            found += _best_batches(benchmark, rows)
    return tuple(found)


def _best_batches(benchmark: str, rows: Sequence[BenchmarkAnswer]) -> list[Batch]:
    """The division of revisions in order whose expected cost is least."""
    probabilities = np.array([row.probability.estimate for row in rows])
    begins = _best_begins(probabilities, [_cost(row) for row in rows])
    batches: list[Batch] = []
    end = len(rows)
    while end > 0:
        begin = begins[end]
        changes = float(probabilities[begin:end].sum())
        unchanged = float((1 - probabilities[begin:end]).prod())
        names = tuple(row.unknown for row in rows[begin:end])
        cost = batch_cost(changes, end - begin, _cost(rows[end - 1]))
        batches.append(Batch(benchmark, names, 1 - unchanged, cost))
        end = begin
    return batches[::-1]


def _best_begins(probabilities: Floats, costs_s: Sequence[float]) -> list[int]:
    """Where the last batch begins of the best division of the first 0, 1, 2, ... revisions.

    By dynamic programming over batches of at most `MOST_IN_BATCH` revisions.
    """
    counts = np.arange(1, MOST_IN_BATCH + 1)
    halves = np.ceil(np.log2(counts))
    best = np.zeros(len(costs_s) + 1)
    begins = [0]
    for end in range(1, len(best)):
        first = max(0, end - MOST_IN_BATCH)
        changes = probabilities[first:end][::-1].cumsum()
        turns = np.minimum(changes * halves[: end - first], counts[: end - first] - 1)
        totals = best[first:end][::-1] + costs_s[end - 1] * (1 + turns)
        shortest = int(totals.argmin())
        best[end] = totals[shortest]
        begins.append(end - 1 - shortest)
    return begins


def batch_cost(changes: float, count: int, cost_s: float) -> float:
    """The expected cost of a batch of `count` revisions with `changes` expected changes.

    One run, and a search by halves for each change: no more in all than running every revision.
    """
    return cost_s * (1 + min(changes * ceil(log2(count)), count - 1))


def revision_weights(answer: CommitAnswer, benchmark: str | None = None) -> Mapping[str, float]:
    """For each revision the probability that it changed a benchmark, or any of them.

    Benchmarks count as independent, so that of any of them this is an upper bound.
    """
    unchanged: dict[str, float] = {}
    for one in answer.benchmarks:
        if benchmark in (None, one.benchmark):
            left = unchanged.get(one.unknown, 1.0)
            unchanged[one.unknown] = left * (1 - one.probability.estimate)
    return {revision: 1 - left for revision, left in unchanged.items()}
