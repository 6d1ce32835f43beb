"""How probable it is of each revision that it made the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from steelyard.analysis.bisection.revision_graph import Flags, Floats, RevisionGraph
from steelyard.core.errors import AnalysisError


@dataclass(frozen=True)
class Posterior:
    """What is known so far.

    Parameters
    ----------
    graph : RevisionGraph
    log_weights : array, shape (n,)
        Logarithms of what the probabilities are proportional to.
    built : array of bool, shape (n,)
        Revisions that were built: another run of one costs no build.
    broken : array of bool, shape (n,)
        Revisions that cannot be tested.
    test_count : int
        Tests so far, those of broken revisions too.
    """

    graph: RevisionGraph
    log_weights: Floats
    built: Flags
    broken: Flags
    test_count: int = 0

    @property
    def probabilities(self) -> Floats:
        """Of each revision, shape (n,); they sum to 1."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.sum()


@dataclass(frozen=True)
class Culprit:
    """The answer.

    Parameters
    ----------
    revision : str
        The most probable one.
    probability : float
        Of it alone.
    inseparable : tuple of str
        It, and the revisions that no test can tell from it because those between do not build.
    set_probability : float
        Of all `inseparable` together.
    """

    revision: str
    probability: float
    inseparable: tuple[str, ...]
    set_probability: float


def start_bisection(graph: RevisionGraph, weights: Mapping[str, float] | None = None) -> Posterior:
    """The posterior before any test.

    Parameters
    ----------
    graph : RevisionGraph
    weights : mapping of str to float, optional
        How much more probable some revisions are than others, such as by the files that they
        change. Others have 1. No probability becomes 0: weights are at least 1e-6.

    Raises
    ------
    AnalysisError
        A weight is negative or not finite.
    """
    count = len(graph)
    found = np.ones(count)
    for revision, weight in (weights or {}).items():
        if not (np.isfinite(weight) and weight >= 0.0):
            raise AnalysisError(
                f"The weight of revision {revision!r} is {weight}; it must be 0 or larger.",
                field="weights",
            )
        if revision in graph.revisions:
            found[graph.index(revision)] = max(1e-6, weight)
    nothing = np.zeros(count, dtype=np.bool_)
    return Posterior(graph, np.log(found / found.sum()), nothing, nothing)


def with_evidence(state: Posterior, revision: str, evidence: float) -> Posterior:
    """The posterior after a test.

    Parameters
    ----------
    state : Posterior
    revision : str
        The one tested.
    evidence : float
        Log-likelihood ratio of what was seen, for the revision having the change.
    """
    at = state.graph.index(revision)
    log_weights = state.log_weights + evidence * state.graph.contains[at]
    log_weights -= log_weights.max()
    return replace(
        state,
        log_weights=log_weights,
        built=_with(state.built, at),
        test_count=state.test_count + 1,
    )


def with_broken(state: Posterior, revision: str) -> Posterior:
    """The posterior after a revision turned out not to build, or not to run."""
    at = state.graph.index(revision)
    return replace(state, broken=_with(state.broken, at), test_count=state.test_count + 1)


def culprit(state: Posterior) -> Culprit:
    """The most probable revision, and those that no test can tell from it.

    Two revisions are inseparable if every revision that is not known to be broken contains both or
    neither.
    """
    probabilities = state.probabilities
    testable = state.graph.contains[~state.broken]
    best = int(np.argmax(probabilities))
    if len(testable):
        same = (testable == testable[:, best : best + 1]).all(axis=0)
    else:
        same = np.ones(len(state.graph), dtype=np.bool_)
    members = np.flatnonzero(same)
    return Culprit(
        revision=state.graph.revisions[best],
        probability=float(probabilities[best]),
        inseparable=tuple(state.graph.revisions[index] for index in members.tolist()),
        set_probability=float(min(1.0, probabilities[members].sum())),
    )


def _with(flags: Flags, at: int) -> Flags:
    changed = flags.copy()
    changed[at] = True
    return changed
