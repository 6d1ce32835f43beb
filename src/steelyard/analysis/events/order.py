"""How much the order of events differs between runs, apart from how often they occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.events.sequences import order_difference

Floats = NDArray[np.float64]


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
    """

    differences: Floats
    counts: Floats
    moved_ratios: Floats


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
    numbers = [Counter(sequence) for sequence in sequences]
    for i in range(size):
        for j in range(i):
            more = sum(((numbers[i] - numbers[j]) + (numbers[j] - numbers[i])).values())
            common = sum((numbers[i] & numbers[j]).values())
            apart = order_difference(sequences[i], sequences[j])
            differences[i, j] = differences[j, i] = apart
            counts[i, j] = counts[j, i] = more
            moved[i, j] = moved[j, i] = (apart - more) / 2 / common if common else 0.0
    return OrderDistances(differences, counts, moved)
