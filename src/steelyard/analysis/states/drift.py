"""A trend that goes on to the end of an execution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.states.class_redraws import signed_sums
from steelyard.analysis.states.dependence import FEWEST_TESTED, centred_ranks
from steelyard.analysis.tables.data_columns import Floats

# A trend that explains so much of the ranks (Spearman) is one that the eye sees.
_PLAIN_TREND = 0.5
# Of the change of all values, what each half has to add by itself; a line adds a half in each.
_LEAST_HALF = 0.25


def drifts(values: Floats, tolerance: float) -> bool:
    """Whether a trend runs through all of `values` and changes them by more than the tolerance.

    Both halves have to go the same way, each by a quarter of what a line through all of them
    changes: the tail of a warm-up does not.
    """
    count = len(values)
    if count < FEWEST_TESTED:
        return False
    changes = _weights(count) @ values
    if not bool(_goes_on(changes[None, :], values, tolerance)[0]):
        return False
    ranks, order = centred_ranks(values), _order(count)
    trend = float(ranks @ order) / float(np.sqrt((ranks @ ranks) * (order @ order)))
    return abs(trend) > _PLAIN_TREND


def drift_confidence(values: Floats, tolerance: float, generator: np.random.Generator) -> float:
    """The share of redraws of the trend, from the values' distances from it, that still go on."""
    weights = _weights(len(values))
    changes = weights @ values
    line = values.mean() + _order(len(values)) * changes[0] / len(values)
    redrawn = changes + signed_sums((weights * (values - line)).T, generator)
    return float(_goes_on(redrawn, values, tolerance).mean())


def _order(count: int) -> Floats:
    return np.arange(count, dtype=np.float64) - (count - 1) / 2


def _weights(count: int) -> Floats:
    """Rows whose products with values are the changes of least-squares lines through all of them,
    through the first and through the second half."""
    half = (count + 1) // 2
    found = np.zeros((3, count))
    for row, (start, stop) in enumerate(((0, count), (0, half), (half, count))):
        order = _order(stop - start)
        found[row, start:stop] = order * len(order) / float(order @ order)
    return found


def _goes_on(changes: Floats, values: Floats, tolerance: float) -> NDArray[np.bool_]:
    """For each row of changes: beyond the tolerance, and the same way in both halves."""
    whole, first, second = changes.T
    beyond = np.abs(whole) > tolerance * abs(float(values.mean()))
    least = np.minimum(first * np.sign(whole), second * np.sign(whole))
    return beyond & (least > _LEAST_HALF * np.abs(whole))
