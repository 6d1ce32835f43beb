"""What a segment of a sequence costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.tables.data_columns import Floats

Integers = NDArray[np.int64]
_ROWS = 80


class SegmentCost:
    """Twice the negative log-likelihood of segments, up to a constant, from sums up to each place.

    Parameters
    ----------
    values : array
        At least one value, finite.
    spread_floor : float
        Standard deviation, in the unit of the values, below which nothing is told apart, such as
        the resolution of the clock; above 0. Its square is added to each variance.
    """

    def __init__(self, values: Floats, spread_floor: float) -> None:
        # Sums of squares lose no digits when the values lie around 0.
        centred = values - np.median(values)
        self.count = len(values)
        self.sums = np.concatenate([[0.0], np.cumsum(centred)])
        self.squares = np.concatenate([[0.0], np.cumsum(centred * centred)])
        self.floor = spread_floor * spread_floor

    def of(self, starts: Integers, ends: Integers | int) -> Floats:
        """The costs of the segments from `starts` up to before `ends`."""
        lengths = ends - starts
        means = (self.sums[ends] - self.sums[starts]) / lengths
        variances = (self.squares[ends] - self.squares[starts]) / lengths - means * means
        return lengths * np.log(np.maximum(variances, 0.0) + self.floor)

    def between(self, places: Integers, shortest: int) -> Floats:
        """A row for each of `places` as an end: the costs of the segments from the others up to
        before it; infinite where one would have fewer than `shortest` values."""
        found = np.full((len(places), len(places)), np.inf)
        sums, squares = self.sums[places], self.squares[places]
        # Only the triangle below the diagonal is asked for.
        for first in range(0, len(places), _ROWS):
            rows = slice(first, first + _ROWS)
            columns = slice(0, min(first + _ROWS, len(places)))
            lengths = places[rows, None] - places[columns]
            scale = 1.0 / np.maximum(lengths, 1)
            variances = (squares[rows, None] - squares[columns]) * scale
            variances -= np.square((sums[rows, None] - sums[columns]) * scale)
            totals = lengths * np.log(np.maximum(variances, 0.0) + self.floor)
            totals[lengths < shortest] = np.inf
            found[rows, columns] = totals
        return found
