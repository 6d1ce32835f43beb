"""E-divisive: the places with the largest energy distance between both sides."""

from __future__ import annotations

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.energy_splits import SHORTEST_SIDE, energy_splits
from steelyard.analysis.history.series import Series


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    found = energy_splits(series.values, sensitivity.false_alarm_rate)
    return tuple(
        Detection("step", place, place, min(1.0, max(1e-300, found[place]) * len(series)))
        for place in sorted(found)
    )


EXTENSION = Detector(
    name="e-divisive",
    description="Energy distances between both sides of a place, and Welch's t.",
    detect=_detect,
    kinds=("step",),
    least_points=2 * SHORTEST_SIDE,
    shortest_segment=SHORTEST_SIDE,
)
