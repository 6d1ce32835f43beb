"""How often something happens in each run, and whether that goes with the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.events.correlation import Correlation, pearson, spearman
from steelyard.analysis.intervals.corrections import CORRECTIONS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KindOfEvent:
    """How often one kind occurs in each run, and whether that goes with the result.

    `adjusted_p` and `adjusted_rank_p` hold for all kinds together.
    """

    name: str
    counts: tuple[int, ...]
    differs: bool
    pearson: Correlation
    rank: Correlation
    adjusted_p: float | None = None
    adjusted_rank_p: float | None = None

    def goes_with_result(self, alpha: float, by_ranks_alone: bool = False) -> bool:
        """Whether a correlation holds for all kinds together: of ranks, or of numbers too."""
        by_number = None if by_ranks_alone else self.adjusted_p
        return any(p is not None and p <= alpha for p in (by_number, self.adjusted_rank_p))


def kind_of_event(
    name: str, counts: Sequence[int], values: Floats, confidence: float
) -> KindOfEvent:
    """One kind, of which no other is known yet."""
    x = np.array(counts, dtype=np.float64)
    return KindOfEvent(
        name,
        tuple(counts),
        len(set(counts)) > 1,
        pearson(x, values, confidence),
        spearman(x, values, confidence),
    )


def adjusted(kinds: Sequence[KindOfEvent], correction: str) -> list[KindOfEvent]:
    """The kinds with p values that hold for all that differ together."""
    adjust = CORRECTIONS[correction]
    tested = [
        place
        for place, kind in enumerate(kinds)
        if kind.pearson.p is not None and kind.rank.p is not None
    ]
    by_value = adjust([kinds[place].pearson.p or 0.0 for place in tested])
    by_rank = adjust([kinds[place].rank.p or 0.0 for place in tested])
    found = list(kinds)
    for place, p, q in zip(tested, by_value, by_rank, strict=True):
        found[place] = replace(found[place], adjusted_p=p, adjusted_rank_p=q)
    return found


def importance(kind: KindOfEvent) -> tuple[bool, float, int]:
    """Sorts those that differ first, of these the strongest correlation, then by number."""
    p = kind.pearson.p
    return (not kind.differs, 2.0 if p is None else p, -sum(kind.counts))
