"""Single values far outside what surrounds them, which no change of level explains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.tables.data_columns import Floats

# Barrett, Bolz-Tereick, Killick, Mount and Tratt, Virtual Machine Warmup Blows Hot and Cold
# (OOPSLA 2017), section 4: windows of 200 values, 3 times the distance of the outer percentiles.
_WINDOW_COUNT = 200
_PERCENTILES = (1.0, 50.0, 99.0)
_DISTANCES = 3.0
_WINDOWS_PER_LENGTH = 4


def ordinary_places(values: Floats) -> NDArray[np.int64]:
    """The places of the values that are no outliers, in order.

    A value is one if it lies, in any window around it, further from the median than three times
    the distance between the 1st and the 99th percentile. The first values are never outliers, as
    long as no ordinary one comes before them: that is how a start looks.
    """
    count = len(values)
    window = min(_WINDOW_COUNT, count)
    starts = np.arange(0, count - window + 1, max(1, window // _WINDOWS_PER_LENGTH))
    if starts[-1] != count - window:
        starts = np.append(starts, count - window)
    windows = values[starts[:, None] + np.arange(window)]
    low, middle, high = np.percentile(windows, _PERCENTILES, axis=1)
    reach = _DISTANCES * (high - low)
    far = np.abs(windows - middle[:, None]) > reach[:, None]
    is_outlier = np.zeros(count, dtype=bool)
    is_outlier[(starts[:, None] + np.arange(window))[far]] = True
    if is_outlier.any():
        first = int(np.argmin(is_outlier))
        is_outlier[:first] = False
    return np.flatnonzero(~is_outlier).astype(np.int64)
