"""Where the level of a track changes, beside noise that may remember its last value."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.level_scan import SHORTEST_SEGMENT, scan_levels
from steelyard.analysis.history.level_segments import LevelSums, Segments, settle_segments
from steelyard.analysis.history.noise_scale import (
    NoiseScale,
    noise_scale,
    resolution,
    robust_deviation,
    safe_memory,
)
from steelyard.analysis.history.series import Floats
from steelyard.analysis.history.track_shape import around_levels, median_of

# Candidates for each value of a stationary track; what stays is decided afterwards.
_CANDIDATE_RATE = 3e-4
# Below it the two views of a track are one.
_LEAST_MEMORY = 0.1
# What each level costs in Schwarz's criterion: its place, its mean, and what memory mimics.
_COST_OF_LEVEL = 3.0
_REFITS = 2
_KNOWN_COUNT = 60


def level_changes(plain: Floats, threshold: float, narrowest: int = SHORTEST_SEGMENT) -> Segments:
    """The places where a new level begins.

    Parameters
    ----------
    plain : array
        At least 8 values, without spikes.
    threshold : float
        The largest p-value of a place that stays.
    narrowest : int, optional
        How many values on each side are looked at, at least.

    Notes
    -----
    A track that wanders slowly is explained by memory without changes, or by changes with less
    memory. Both views are taken: the memory that means of 1, 5 and 10 values show, and that of what
    is left around the levels found without any. The one with the smaller criterion of Schwarz
    (Annals of Statistics 6 (1978) 461), for an autoregression around the levels, is believed.
    """
    # A short track hardly shows what its values are like.
    threshold *= min(1.0, len(plain) / _KNOWN_COUNT)
    centred = plain - median_of(plain)
    sums = LevelSums(centred)
    noise = noise_scale(centred, sums.sums)
    candidates = scan_levels(sums.sums, noise, _CANDIDATE_RATE, narrowest)
    found = settle_segments(sums, candidates, noise, threshold)
    if noise.memory <= _LEAST_MEMORY:
        return found
    other = _with_less_memory(centred, sums, threshold)
    return other if _criterion(centred, other) < _criterion(centred, found) else found


def _with_less_memory(values: Floats, sums: LevelSums, threshold: float) -> Segments:
    """The levels that are found as if values were independent, judged by the memory left then."""
    least = resolution(values)
    deviation = max(least, robust_deviation(np.diff(values)) / 2**0.5)
    noise = NoiseScale(deviation, 0.0, len(values))
    candidates = scan_levels(sums.sums, noise, _CANDIDATE_RATE)
    found = settle_segments(sums, candidates, noise, threshold)
    for _ in range(_REFITS):
        rest = around_levels(values, found.places)
        noise = NoiseScale(
            max(least, robust_deviation(rest)), _memory(rest, len(found.places)), len(values)
        )
        found = settle_segments(sums, list(found.places), noise, threshold)
    return found


def _memory(rest: Floats, changes: int) -> float:
    """Lag-1 correlation without the bias of the means that were taken away (Kendall 1954)."""
    total = float(rest @ rest)
    if total <= 0.0:
        return 0.0
    lag = float(rest[1:] @ rest[:-1]) / total
    return safe_memory(lag + (1.0 + 3.0 * lag) * (changes + 1) / len(rest), len(rest))


def _criterion(values: Floats, found: Segments) -> float:
    rest = around_levels(values, found.places)
    before = float(rest[:-1] @ rest[:-1])
    lag = float(rest[1:] @ rest[:-1]) / before if before > 0.0 else 0.0
    shocks = rest[1:] - lag * rest[:-1]
    count = len(values)
    fit = count * np.log(float(shocks @ shocks) / count + 1e-300)
    return float(fit) + _COST_OF_LEVEL * float(np.log(count)) * len(found.places)
