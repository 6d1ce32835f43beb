"""Talos's windows, with the threshold that the degrees of freedom ask for."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_two_sided_p_values
from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.peaks import peaks_apart
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.where_it_began import best_split
from steelyard.analysis.history.window_t import BEFORE_COUNT, FROM_COUNT, window_tests


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    tests = window_tests(series.values)
    p_values = t_two_sided_p_values(tests.statistics, tests.degrees)
    # Of points that see one change, within a fore-window of each other, the plainest is told.
    peaks = peaks_apart(-np.log(np.maximum(p_values, 1e-300)), FROM_COUNT)
    kept = peaks[p_values[peaks] <= sensitivity.false_alarm_rate]
    chances = np.minimum(1.0, p_values[kept] * len(series))
    found = [
        (_refined(series, index), p)
        for index, p in zip(kept.tolist(), chances.tolist(), strict=True)
    ]
    return tuple(Detection("step", index, index, p) for index, p in found)


def _refined(series: Series, place: int) -> int:
    """Where in the windows at a place of the tests the level changes best."""
    window = series.values[place : place + BEFORE_COUNT + 2 * FROM_COUNT]
    return place + best_split(window, BEFORE_COUNT - FROM_COUNT, BEFORE_COUNT + FROM_COUNT)


EXTENSION = Detector(
    name="talos-calibrated",
    description="Talos's windows with Welch's degrees of freedom; one change for each peak.",
    detect=_detect,
    kinds=("step",),
    least_points=BEFORE_COUNT + FROM_COUNT,
    shortest_segment=FROM_COUNT,
)
