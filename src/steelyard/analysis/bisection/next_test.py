"""Which revision to test next, and with how many runs: the most information a second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.analysis.bisection.posterior import Posterior
from steelyard.analysis.bisection.revision_graph import Floats
from steelyard.analysis.distributions.table_distributions import binomial_probabilities

# Along a history builds break and are mended: how many revisions a broken one speaks for, and how
# many of a history are taken for broken before any was seen.
_BROKEN_REACH = 4.0
_BROKEN_BEFORE, _BUILT_BEFORE = 1.0, 19.0
_LEAST_BITS = 1e-9
_NEARLY = 0.75


@dataclass(frozen=True)
class CostOfTest:
    """What a test takes.

    Parameters
    ----------
    build_s : float
        Of a revision that was not built yet.
    run_s : float
        Of one run.
    error_ratio : float
        How often one run says the wrong thing: above 0, below 0.5.
    most_runs : int
        In one test.
    """

    build_s: float
    run_s: float
    error_ratio: float
    most_runs: int = 8


@dataclass(frozen=True)
class Proposal:
    """A test that is worth most.

    Parameters
    ----------
    revision : str
    run_count : int
    information_bits : float
        Expected, with the chance that it does not build.
    cost_s : float
    """

    revision: str
    run_count: int
    information_bits: float
    cost_s: float


def propose_test(state: Posterior, costs: CostOfTest) -> Proposal | None:
    """The revision with the most expected information a second, and the largest number of runs
    with three quarters of that.

    None where no test can say anything: all that would separate revisions do not build.

    Notes
    -----
    Lindley, Annals of Mathematical Statistics 27 (1956) 986: the mutual information of the number
    of runs that say 'slow' and the revision that is to be found. Runs are independent.
    """
    showing = state.graph.contains @ state.probabilities
    building = np.where(state.built, 1.0, _building_probability(state))
    building[state.broken] = 0.0
    rates: list[Floats] = []
    bits: list[Floats] = []
    seconds: list[Floats] = []
    for run_count in range(1, costs.most_runs + 1):
        spent = np.where(state.built, 0.0, costs.build_s) + run_count * costs.run_s
        told = _information(showing, costs.error_ratio, run_count) * building
        rates.append(np.where(told > _LEAST_BITS, told / spent, 0.0))
        bits.append(told)
        seconds.append(spent)
    counted = np.array(rates)
    at = int(np.argmax(counted.max(axis=0)))
    best = float(counted[:, at].max())
    if best <= 0.0:
        return None
    # Of one revision several runs at once, where they tell nearly as much a second.
    chosen = int(np.flatnonzero(counted[:, at] >= _NEARLY * best)[-1])
    return Proposal(
        state.graph.revisions[at],
        chosen + 1,
        float(bits[chosen][at]),
        float(seconds[chosen][at]),
    )


def _information(showing: Floats, error_ratio: float, run_count: int) -> Floats:
    """Mutual information in bits of `run_count` answers where the change shows with `showing`."""
    if_slow = binomial_probabilities(run_count, 1 - error_ratio)
    if_fast = if_slow[::-1]
    mixed = showing[:, None] * if_slow + (1 - showing)[:, None] * if_fast
    return _entropy(mixed) - _entropy(if_slow[None, :])


def _entropy(probabilities: Floats) -> Floats:
    terms = probabilities * np.log2(np.maximum(probabilities, 1e-300))
    return np.asarray(-terms.sum(axis=-1), dtype=np.float64)


def _building_probability(state: Posterior) -> Floats:
    """How probable it is that each revision builds, by the nearest one in order that was tried."""
    tried = np.flatnonzero(state.built | state.broken)
    broken_count, built_count = int(state.broken.sum()), int(state.built.sum())
    usual = (_BROKEN_BEFORE + broken_count) / (
        _BROKEN_BEFORE + _BUILT_BEFORE + broken_count + built_count
    )
    if not len(tried):
        return np.full(len(state.graph), 1 - usual)
    order = np.arange(len(state.graph))
    after = np.clip(np.searchsorted(tried, order), 0, len(tried) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.where(
        np.abs(tried[before] - order) < np.abs(tried[after] - order), tried[before], tried[after]
    )
    weight = np.exp(-np.abs(nearer - order) / _BROKEN_REACH)
    return np.asarray(1 - (usual + (state.broken[nearer] - usual) * weight), dtype=np.float64)
