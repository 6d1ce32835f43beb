"""Talos's t test with its threshold of 9: each point at which it fires."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.window_t import BEFORE_COUNT, FROM_COUNT, THRESHOLD, window_tests

# Of points of normal values, from 2,000,000 simulated ones.
_NORMAL_RATE = 5e-6


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    tests = window_tests(series.values)
    fired = np.flatnonzero(np.abs(tests.statistics) > THRESHOLD) + tests.first
    return tuple(Detection("step", index, index, _NORMAL_RATE) for index in fired.tolist())


EXTENSION = Detector(
    name="talos",
    description="Talos's t test: 30 values before, 5 from the value on, threshold 9.",
    detect=_detect,
    kinds=("step",),
    least_points=BEFORE_COUNT + FROM_COUNT,
    uses_sensitivity=False,
    origin="thesis",
)
