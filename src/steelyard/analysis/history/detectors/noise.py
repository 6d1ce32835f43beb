"""Changes of noise alone: another spread around the levels."""

from __future__ import annotations

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.level_changes import level_changes
from steelyard.analysis.history.noise_changes import SHORTEST_NOISE, find_noise_changes
from steelyard.analysis.history.noise_scale import without_spikes
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.track_shape import around_levels

_LEAST_POINTS = 2 * SHORTEST_NOISE


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    if len(series) < _LEAST_POINTS:
        return ()
    rate = sensitivity.false_alarm_rate
    plain = without_spikes(series.values)
    rest = around_levels(plain, level_changes(plain, rate).places)
    return tuple(
        Detection("noise", one.place, one.place, min(1.0, one.p_value * len(series)))
        for one in find_noise_changes(rest, rate)
    )


EXTENSION = Detector(
    name="noise",
    description="Another spread around the levels.",
    detect=_detect,
    kinds=("noise",),
    least_points=_LEAST_POINTS,
    shortest_segment=SHORTEST_NOISE,
)
