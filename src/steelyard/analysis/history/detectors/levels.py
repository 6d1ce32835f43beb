"""Levels and spikes: means of many widths beside the track's own noise and memory, and values far
beyond the track's own far ones."""

from __future__ import annotations

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.level_changes import level_changes
from steelyard.analysis.history.level_scan import SHORTEST_SEGMENT
from steelyard.analysis.history.noise_scale import without_spikes
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.spikes import find_spikes, with_taken_back
from steelyard.analysis.history.taken_back import spikes_for_steps
from steelyard.analysis.history.track_shape import around_shape

_LEAST_POINTS = 12


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    if len(series) < _LEAST_POINTS:
        return ()
    rate = sensitivity.false_alarm_rate
    levels = level_changes(without_spikes(series.values), rate)
    found, short = spikes_for_steps(series.values, levels)
    apart = around_shape(series.values, found.places, ())
    steps = [
        Detection("step", place, place, min(1.0, max(p, 1e-300) * len(series)))
        for place, p, deviations in zip(
            found.places, found.p_values.tolist(), found.deviations.tolist(), strict=True
        )
        if deviations >= sensitivity.least_deviations
    ]
    spikes = [
        Detection("spike", spike.first, spike.last, spike.p_value)
        for spike in with_taken_back(find_spikes(apart, rate, found.places), short)
    ]
    return tuple(sorted([*steps, *spikes], key=lambda one: one.index))


EXTENSION = Detector(
    name="levels",
    description="Levels, by means of many widths beside the track's own noise, and spikes.",
    detect=_detect,
    kinds=("step", "spike"),
    least_points=_LEAST_POINTS,
    shortest_segment=SHORTEST_SEGMENT,
)
