"""Which of the values of a long track are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.history.series import Floats, Integers
from steelyard.core.tracks import TrackPoint

# More points than this are drawn as the smallest and largest of each of half as many stretches: a
# canvas has about so many columns.
MOST_POINTS = 600


@dataclass(frozen=True)
class DrawnPoints:
    """What a page needs of a track's values.

    Parameters
    ----------
    indexes : array
        Of the points that are drawn, in order.
    points : sequence of TrackPoint
        Those, each with the value that detectors saw.
    values : array
        All values, from which levels are drawn.
    """

    indexes: Integers
    points: Sequence[TrackPoint]
    values: Floats


def kept_indexes(values: Floats, changed: Sequence[int]) -> Integers:
    """The indexes of the points to draw, in order: all of few, else the ends of each stretch.

    Parameters
    ----------
    values : array, shape (n,)
    changed : sequence of int
        Indexes that are kept in any case.
    """
    count = len(values)
    if count <= MOST_POINTS:
        return np.arange(count)
    edges = np.linspace(0, count, MOST_POINTS // 2 + 1).astype(np.int64)
    kept = {0, count - 1, *changed, *(index - 1 for index in changed if index)}
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = values[first:last]
        kept.update((first + int(part.argmin()), first + int(part.argmax())))
    return np.array(sorted(kept), dtype=np.int64)
