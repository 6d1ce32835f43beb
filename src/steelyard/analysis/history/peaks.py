"""Peaks of a statistic, each alone within a distance."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy import ndimage as _untyped  # pyright: ignore[reportMissingTypeStubs]

from steelyard.analysis.history.series import Floats, Integers

ndimage = cast("Any", _untyped)


def peaks_apart(statistic: Floats, distance: int) -> Integers:
    """The indexes that are largest within `distance` points to either side, in order.

    Of equal values the first counts.
    """
    if not len(statistic):
        return np.zeros(0, dtype=np.int64)
    largest: Floats = ndimage.maximum_filter1d(statistic, 2 * distance + 1, mode="nearest")
    peaks = np.flatnonzero(statistic >= largest)
    if len(peaks) < 2:
        return peaks
    # Equal neighbours: each is kept only if none before it within the distance was.
    kept = [int(peaks[0])]
    for index in peaks[1:].tolist():
        if index - kept[-1] > distance:
            kept.append(index)
    return np.array(kept, dtype=np.int64)
