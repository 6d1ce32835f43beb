"""What a segment of a sequence costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.table import Floats

Integers = NDArray[np.int64]


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
