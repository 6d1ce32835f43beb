"""Levels: means of many widths beside the track's own noise and memory."""

from __future__ import annotations

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.level_changes import level_changes
from steelyard.analysis.history.level_scan import SHORTEST_SEGMENT
from steelyard.analysis.history.series import Series

_LEAST_POINTS = 8


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    if len(series) < _LEAST_POINTS:
        return ()
    found = level_changes(series.values, sensitivity.false_alarm_rate)
    return tuple(
        Detection("step", place, place, min(1.0, max(p, 1e-300) * len(series)))
        for place, p in zip(found.places, found.p_values.tolist(), strict=True)
    )


EXTENSION = Detector(
    name="levels",
    description="Levels of any length, by means of many widths beside the track's own noise.",
    detect=_detect,
    kinds=("step",),
    least_points=_LEAST_POINTS,
    shortest_segment=SHORTEST_SEGMENT,
)
