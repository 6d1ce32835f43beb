"""Kinds of events whose numbers move together, so that the data cannot tell which one matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.events.correlation import Correlation, pearson, spearman
from steelyard.analysis.events.event_counts import KindOfEvent
from steelyard.analysis.intervals.corrections import CORRECTIONS


@dataclass(frozen=True)
class Together:
    """Two kinds whose numbers are correlated over runs, the first of which goes with the result.

    `adjusted_p` holds for all pairs that were looked at.
    """

    first: str
    second: str
    correlation: Correlation
    adjusted_p: float


def kinds_together(
    kinds: Sequence[KindOfEvent], confidence: float, correction: str, by_ranks: bool
) -> tuple[Together, ...]:
    """The kinds that move with one that goes with the result, the strongest first.

    Parameters
    ----------
    kinds : sequence of KindOfEvent
        The most telling first.
    confidence : float
    correction : str
        Of the p values, over all pairs of a kind that goes with the result and any other.
    by_ranks : bool
        Whether ranks are correlated instead of numbers.
    """
    alpha = 1 - confidence
    differing = [kind for kind in kinds if kind.differs]
    telling = [kind for kind in differing if kind.goes_with_result(alpha, by_ranks)]
    pairs = [
        (kind, other)
        for place, kind in enumerate(telling)
        for other in differing
        if other not in telling[: place + 1]
    ]
    correlate = spearman if by_ranks else pearson
    found = [
        (kind.name, other.name, correlate(_numbers(kind), _numbers(other), confidence))
        for kind, other in pairs
    ]
    tested = [one for one in found if one[2].p is not None]
    adjusted = CORRECTIONS[correction]([one[2].p or 0.0 for one in tested])
    together = [Together(*one, p) for one, p in zip(tested, adjusted, strict=True) if p <= alpha]
    return tuple(sorted(together, key=lambda one: one.adjusted_p))


def _numbers(kind: KindOfEvent) -> np.ndarray:
    return np.array(kind.counts, dtype=np.float64)
