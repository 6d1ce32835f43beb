"""Intervals of quantile effects from those of the points of a design, each by its own order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import binomial_lower_p

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

METHOD = "order-points"
_BISECTIONS = 40
_SMALLEST_P = 1e-8


@dataclass(frozen=True)
class PointQuantiles:
    """The values at each point in their order, of a model with as many columns as points.

    Parameters
    ----------
    ordered : tuple of array
        One a point.
    weights : array, columns x points
        What each point's quantile weighs in each effect: the inverse of the model's matrix.
    quantile : float
    fitted : array
        The quantile of each point that the model goes through.
    """

    ordered: tuple[Floats, ...]
    weights: Floats
    quantile: float
    fitted: Floats

    def bounds(self, column: int, confidence: float) -> tuple[float | None, float | None]:
        """The interval of an effect; None where a point has too few rows beyond its quantile.

        Notes
        -----
        The distance of an effect's bound from its estimate is the root of the sum of squares of
        those of the points that it weighs (MOVER: Zou and Donner, Statistics in Medicine 27
        (2008) 1693). Points differ in spread and shape as they like.
        """
        effect = self.weights[column]
        down = up = 0.0
        for point in np.flatnonzero(np.abs(effect) > 1e-12).tolist():
            low, high = order_bounds(self.ordered[point], self.quantile, confidence)
            if low is None or high is None:
                return None, None
            weight, value = float(effect[point]), float(self.fitted[point])
            below, above = max(0.0, value - low), max(0.0, high - value)
            if weight < 0:
                below, above = above, below
            down += (weight * below) ** 2
            up += (weight * above) ** 2
        centre = float(effect @ self.fitted)
        return centre - down**0.5, centre + up**0.5

    def p(self, column: int) -> float:
        """The level at which the interval of an effect just leaves out 0."""
        low, high = _SMALLEST_P, 1.0
        if self._excludes_zero(column, low):
            return low
        for _ in range(_BISECTIONS):
            middle = (low * high) ** 0.5
            if self._excludes_zero(column, middle):
                high = middle
            else:
                low = middle
        return high

    def _excludes_zero(self, column: int, alpha: float) -> bool:
        low, high = self.bounds(column, 1.0 - alpha)
        return low is not None and high is not None and not low <= 0.0 <= high


def order_bounds(
    ordered: Floats, quantile: float, confidence: float
) -> tuple[float | None, float | None]:
    """The interval of a quantile between order statistics, whatever the distribution.

    Parameters
    ----------
    ordered : array
        Ascending.

    Returns
    -------
    pair of float or None
        None where even the outermost value does not bound it with this confidence.

    Notes
    -----
    Binomial, interpolated between neighbours as Nyblom (Statistics and Probability Letters 14
    (1992) 129) extends Hettmansperger and Sheather's interval of the median.
    """
    tail = (1.0 - confidence) / 2
    low = _lower(ordered, quantile, tail)
    high = _lower(-ordered[::-1], 1.0 - quantile, tail)
    return low, None if high is None else -high


def _lower(ordered: Floats, quantile: float, tail: float) -> float | None:
    count = len(ordered)
    # The chance that the r-th value lies above the quantile, from r = 1.
    above = binomial_lower_p(np.arange(count, dtype=np.float64), count, quantile)
    rank = int(np.searchsorted(above, tail, side="right"))
    if rank < 1:
        return None
    if rank >= count:
        return float(ordered[-1])
    sure, next_ = float(above[rank - 1]), float(above[rank])
    share = 0.0
    if tail > sure:
        odds = rank * (1 - quantile) * (next_ - tail) / ((count - rank) * quantile * (tail - sure))
        share = 1.0 / (1.0 + odds)
    return float((1 - share) * ordered[rank - 1] + share * ordered[rank])


def point_quantiles(
    matrix: Floats, point: Integers, values: Floats, coefficients: Floats, quantile: float
) -> PointQuantiles:
    """The points of a saturated model with their rows.

    Parameters
    ----------
    matrix : array, points x columns
        Square, of full rank.
    point : array of int
        Of each row.
    values, coefficients : array
    quantile : float
    """
    order = np.lexsort((values, point))
    ends = np.cumsum(np.bincount(point))[:-1]
    ordered = tuple(np.split(values[order], ends))
    weights = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return PointQuantiles(ordered, weights, quantile, matrix @ coefficients)
