"""Between which points a step began."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.memory import lag_memory, mean_factor
from steelyard.analysis.history.series import Floats, Integers

_COVERED = 0.95
# Farther away a step cannot have begun without having been found there.
_REACH = 60


def best_split(values: Floats, first: int, last: int) -> int:
    """The index from `first` to `last` at which two levels fit `values` best.

    The least sum of squares around the means of both sides; each side has a value at least, and of
    equal fits the first counts.
    """
    places = np.arange(max(1, first), min(len(values) - 1, last) + 1)
    centred = values - np.median(values)
    sums = np.cumsum(centred)
    left, total = sums[places - 1], sums[-1]
    gains = left**2 / places + (total - left) ** 2 / (len(values) - places)
    return int(places[np.argmax(gains)])


def beginning_range(
    values: Floats, before: Integers, holding: Integers, index: int
) -> tuple[int, int]:
    """The first and the last index between which a step at `index` began, with 95 % probability.

    Notes
    -----
    The posterior over places, each as probable beforehand, of a step between two normal levels
    with one spread (Smith, Biometrika 62 (1975) 407), at the estimated levels; the spread is
    multiplied by what the memory of the values makes of it. The smallest range around `index`.
    """
    if not len(before) or not len(holding):
        return index, index
    first, last = max(int(before[0]) + 1, index - _REACH), min(int(holding[-1]), index + _REACH)
    own, other = float(values[before].mean()), float(values[holding].mean())
    left = np.concatenate([values[before] - own, values[holding] - other])
    degrees = max(1, len(left) - 2)
    factor = mean_factor(lag_memory(left), max(2, len(left)))
    variance = float(left @ left) / degrees * factor
    if variance <= 0.0 or last <= first:
        return index, index
    near = values[first - 1 : last]
    gains = np.concatenate([[0.0], np.cumsum((near - own) ** 2 - (near - other) ** 2)])
    # The gain of beginning at first + k over beginning before all of `near`.
    log_weights = -gains[1:] / (2 * variance)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    low = high = index - first
    covered = float(weights[low])
    while covered < _COVERED and (low > 0 or high < len(weights) - 1):
        below = float(weights[low - 1]) if low > 0 else -1.0
        above = float(weights[high + 1]) if high < len(weights) - 1 else -1.0
        if below >= above:
            low, covered = low - 1, covered + below
        else:
            high, covered = high + 1, covered + above
    return first + low, first + high
