"""Cumulative sums: creeps, told as such where a line explains the values better than a step."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.creeps import find_creeps
from steelyard.analysis.history.cumulative_sums import SETTLING_COUNT, crossings
from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.noise_scale import noise_scale, without_spikes
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.where_it_began import best_split

_LEAST_POINTS = 2 * SETTLING_COUNT
_SHORTEST = 5


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    if len(series) < _LEAST_POINTS:
        return ()
    rate = sensitivity.false_alarm_rate
    plain = without_spikes(series.values)
    centred = plain - np.median(plain)
    noise = noise_scale(centred, np.concatenate([[0.0], np.cumsum(centred)]))
    found: list[Detection] = []
    begin = 0
    crossed = crossings(plain, noise.memory, rate)
    ends = [*(one.crossed for one in crossed), len(plain)][1:]
    for crossing, end in zip(crossed, ends, strict=True):
        part = plain[begin:end]
        at = best_split(part, min(_SHORTEST, len(part) - 1), max(1, len(part) - _SHORTEST))
        p_value = min(1.0, rate * len(series))
        creeps = find_creeps(part, (at,), noise)
        if creeps:
            first, last = begin + creeps[0].first, begin + creeps[0].last
            found.append(Detection("creep", first, last, p_value))
        else:
            found.append(Detection("step", begin + at, begin + at, p_value))
        begin = max(crossing.crossed + 1, begin + 1)
    return tuple(found)


EXTENSION = Detector(
    name="cusum",
    description="Sums of differences from the values before, for creeps and small steps.",
    detect=_detect,
    kinds=("step", "creep"),
    least_points=_LEAST_POINTS,
    shortest_segment=_SHORTEST,
)
