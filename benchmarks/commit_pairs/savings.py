"""What running fewer benchmarks saves, and how much later changes are seen.

Revisions come one after the other, and each strategy says which benchmarks it runs at which. A
change is seen at the first run at its revision or behind it; the *regret* is by how many revisions
later that is, over all changes. What a benchmark costs is its number of instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.commits.predictor import learn_predictor
from steelyard.predict.commits.predictor_evaluation import oldest

_DRAWS = 200
_LEARNT_RATIO = 0.25


@dataclass(frozen=True)
class Spent:
    """What a strategy came to.

    Parameters
    ----------
    cost : float
        A share of running everything.
    regret : float
        Revisions that a change waits until it is seen, on average.
    at_once : float
        Share of changes that are seen at their revision.
    """

    cost: float
    regret: float
    at_once: float


@dataclass(frozen=True)
class Savings:
    """The strategies on one history; those beside the predictor at its regret."""

    predicted: Spent
    every_nth: float
    at_random: float
    changes: int


def savings(table: PairTable, costs: Floats, wanted_hit_rate: float = 0.95) -> Savings:
    """Compare strategies on what is newer than the oldest quarter.

    Parameters
    ----------
    table : PairTable
        Commit by commit.
    costs : array, shape (n,)
        Of each row.
    wanted_hit_rate : float
    """
    is_old = oldest(table, _LEARNT_RATIO)
    predictor = learn_predictor(table.rows(is_old), wanted_hit_rate)
    asked, costs = table.rows(~is_old), costs[~is_old]
    predicted = spent(asked, costs, predictor.run(asked))
    places = np.unique(asked.order, return_inverse=True)[1]

    def every(step: int) -> Spent:
        runs = [spent(asked, costs, places % step == first) for first in range(step)]
        return _mean(runs)

    def drawn(share: float) -> Spent:
        chance = np.random.default_rng(1)
        return _mean(
            [spent(asked, costs, chance.random(len(asked)) < share) for _ in range(_DRAWS)]
        )

    nth = [every(step) for step in range(1, 41)]
    random = [drawn(share) for share in np.linspace(1, 0.02, 50)]
    return Savings(
        predicted,
        _cost_at(nth, predicted.regret),
        _cost_at(random, predicted.regret),
        int(asked.hits.sum()),
    )


def spent(table: PairTable, costs: Floats, run: Truths) -> Spent:
    """The cost of some runs, and how late changes are seen with them."""
    places = np.unique(table.order, return_inverse=True)[1]
    end = int(places.max()) + 1
    waits: list[int] = []
    for benchmark in sorted(set(table.benchmarks)):
        here = np.array([name == benchmark for name in table.benchmarks])
        ran = np.unique(places[here & run])
        for place in places[here & table.hits]:
            seen = np.searchsorted(ran, place)
            waits.append(int((ran[seen] if seen < len(ran) else end) - place))
    found = np.array(waits or [0], float)
    return Spent(
        float(costs[run].sum() / costs.sum()), float(found.mean()), float((found == 0).mean())
    )


def _mean(runs: list[Spent]) -> Spent:
    def mean(of: Callable[[Spent], float]) -> float:
        return float(np.mean([of(one) for one in runs]))

    return Spent(
        mean(lambda one: one.cost), mean(lambda one: one.regret), mean(lambda one: one.at_once)
    )


def _cost_at(strategies: list[Spent], regret: float) -> float:
    """What the cheapest way to a regret costs, between strategies in proportion."""
    ordered = sorted(strategies, key=lambda one: one.regret)
    return float(np.interp(regret, [one.regret for one in ordered], [one.cost for one in ordered]))
