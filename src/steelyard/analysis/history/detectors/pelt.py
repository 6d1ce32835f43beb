"""Optimal partitioning: the division into normal segments with the least penalised cost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.level_segments import LevelSums, judged_places
from steelyard.analysis.history.noise_scale import NoiseScale, resolution
from steelyard.analysis.history.series import Series
from steelyard.analysis.states.change_points import change_penalty, change_points
from steelyard.analysis.states.segment_cost import SegmentCost

_LEAST_POINTS = 4
_SHORTEST = 2
# Where all values are 0 nothing is resolved, and its square has no logarithm.
_LEAST_SPREAD = 1e-70
# What a normal value exceeds this penalty's gain by is far below any rate that is asked for.
_RATE = 1e-6
_LEAST_P = 1e-2


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    """Steps where the means differ, changes of noise where only the spread does."""
    if len(series) < _LEAST_POINTS:
        return ()
    values = series.values
    floor = max(_LEAST_SPREAD, resolution(values))
    places = change_points(SegmentCost(values, floor), change_penalty(len(values)))
    if not places:
        return ()
    bounds = [0, *places, len(values)]
    spreads = [float(values[first:last].std()) for first, last in pairwise(bounds)]
    noise = NoiseScale(max(floor, float(np.median(spreads))), 0.0, len(values))
    local = np.repeat(np.maximum(spreads, floor), np.diff(bounds))
    chances = judged_places(LevelSums(values, local), list(places), noise).p_values
    return tuple(
        Detection("step" if p <= _LEAST_P else "noise", place, place, _RATE)
        for place, p in zip(places, chances.tolist(), strict=True)
    )


EXTENSION = Detector(
    name="pelt",
    description="The division into normal segments with the least cost, penalised by 15 log n.",
    detect=_detect,
    kinds=("step", "noise"),
    least_points=_LEAST_POINTS,
    shortest_segment=_SHORTEST,
    uses_sensitivity=False,
)
