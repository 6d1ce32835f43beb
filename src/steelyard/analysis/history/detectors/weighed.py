"""All kinds: levels and spikes, rises where a line explains levels better, and changes of noise."""

from __future__ import annotations

from itertools import chain

import numpy as np

from steelyard.analysis.history.creeps import find_creeps
from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.level_changes import level_changes
from steelyard.analysis.history.level_scan import SHORTEST_SEGMENT
from steelyard.analysis.history.level_segments import LevelSums, settle_segments
from steelyard.analysis.history.noise_changes import find_noise_changes, local_spreads
from steelyard.analysis.history.noise_scale import noise_scale, without_spikes
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.spikes import find_spikes, with_taken_back
from steelyard.analysis.history.taken_back import spikes_for_steps
from steelyard.analysis.history.track_shape import around_levels, around_shape, median_of
from steelyard.analysis.history.value_errors import believed_values

_LEAST_POINTS = 12
# From this ratio on one spread for the whole track makes steps out of a burst of noise.
_UNLIKE = 3.0
# Of the rate of false alarms, for changes of noise: hardly anyone acts on them.
_NOISE_SHARE = 0.1


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    count, rate = len(series), sensitivity.false_alarm_rate
    if count < _LEAST_POINTS:
        return ()
    values = believed_values(series)
    plain = without_spikes(values)
    found = level_changes(plain, rate)
    rest = around_levels(plain, found.places)
    noises = find_noise_changes(rest, _NOISE_SHARE * rate)
    noise = noise_scale(rest, np.concatenate([[0.0], np.cumsum(rest)]))
    spreads = local_spreads(rest, noises)
    if spreads.max() >= _UNLIKE * spreads.min():
        sums = LevelSums(plain - median_of(plain), spreads)
        found = settle_segments(sums, list(found.places), noise, rate)
    found, short = spikes_for_steps(values, found)
    creeps = find_creeps(plain, found.places, noise)
    replaced = {step for creep in creeps for step in creep.steps}
    steps = [number for number in range(len(found.places)) if number not in replaced]
    places = [found.places[number] for number in steps]
    detections = [
        Detection("step", found.places[at], found.places[at], _in_series(found.p_values[at], count))
        for at in steps
        if found.deviations[at] >= sensitivity.least_deviations
    ]
    detections += [
        Detection("creep", one.first, one.last, _in_series(one.p_value, count)) for one in creeps
    ]
    detections += [
        Detection("noise", one.place, one.place, _in_series(one.p_value, count)) for one in noises
    ]
    drifts = [(one.first, one.last) for one in creeps]
    apart = around_shape(values, places, drifts)
    bounds = sorted({*places, *chain(*drifts)})
    spikes = with_taken_back(find_spikes(apart / spreads, rate, bounds), short)
    detections += [Detection("spike", one.first, one.last, one.p_value) for one in spikes]
    return tuple(sorted(detections, key=lambda one: (one.index, one.kind)))


def _in_series(p_value: float, count: int) -> float:
    """Of one place to one of the whole series."""
    return min(1.0, max(p_value, 1e-300) * count)


EXTENSION = Detector(
    name="weighed",
    description="All kinds of changes; what explains the values best is told.",
    detect=_detect,
    kinds=("step", "spike", "creep", "noise"),
    least_points=_LEAST_POINTS,
    shortest_segment=SHORTEST_SEGMENT,
)
