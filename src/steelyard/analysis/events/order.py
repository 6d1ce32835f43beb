"""How much the order of events differs between runs, apart from how often they occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.events.correlation import Correlation
from steelyard.analysis.events.sequences import order_difference

Floats = NDArray[np.float64]
# Of the error that is allowed.
_LEVEL_SHARE = 0.6


@dataclass(frozen=True)
class OrderDistances:
    """How far apart the sequences of each pair of runs are.

    Parameters
    ----------
    differences : array of shape (runs, runs)
        Events that a minimal diff takes out or puts in.
    counts : array of shape (runs, runs)
        Those of them that differ in number: whatever the order, they are in any diff.
    moved_ratios : array of shape (runs, runs)
        The share of the events that both have which stand in another order.
    totals : array of shape (runs, runs)
        The events of both together.
    """

    differences: Floats
    counts: Floats
    moved_ratios: Floats
    totals: Floats

    @property
    def numbers(self) -> tuple[Floats, Floats]:
        """What the numbers of events alone say of each pair: how they differ, and how many they
        are. The share that chance moves depends on both."""
        return self.counts, self.totals


def order_distances(sequences: Sequence[Sequence[int]]) -> OrderDistances:
    """The differences of every pair of sequences, split into number and order.

    Notes
    -----
    A minimal diff of sequences with the numbers a and b of each kind takes out or puts in at least
    ``sum |a - b|``, which is the difference in number. What is more comes in twos, an event taken
    out here and put in there; their number over ``sum min(a, b)`` is the share that moved.
    """
    size = len(sequences)
    differences, counts, moved = (np.zeros((size, size)) for _ in range(3))
    sizes = np.array([len(sequence) for sequence in sequences], dtype=np.float64)
    numbers = [Counter(sequence) for sequence in sequences]
    for i in range(size):
        for j in range(i):
            more = sum(((numbers[i] - numbers[j]) + (numbers[j] - numbers[i])).values())
            common = sum((numbers[i] & numbers[j]).values())
            apart = order_difference(sequences[i], sequences[j])
            differences[i, j] = differences[j, i] = apart
            counts[i, j] = counts[j, i] = more
            moved[i, j] = moved[j, i] = (apart - more) / 2 / common if common else 0.0
    return OrderDistances(differences, counts, moved, sizes[:, None] + sizes[None, :])


def order_goes_with_result(found: Correlation, confidence: float) -> bool:
    """Whether the order of events goes with the result.

    Runs in less alike an order whose results are more alike are no sign of an influence. The level
    is below that of the confidence: where numbers differ sixteenfold, chance moves events by more
    than a surface through the numbers leaves (simulated in docs/STATISTICS.md).
    """
    if found.p is None:
        return False
    return found.p <= _LEVEL_SHARE * (1 - confidence) and (found.coefficient.estimate or 0.0) > 0
