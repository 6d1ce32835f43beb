"""Where the noise of a track becomes another: levels of the sizes of what is left around them."""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from steelyard.analysis.history.level_changes import level_changes
from steelyard.analysis.history.noise_scale import resolution, without_spikes
from steelyard.analysis.history.series import Floats

# A spread of fewer values says little, and a few far ones are a spike.
SHORTEST_NOISE = 15
# Spreads are told apart from here on: what a machine's own day makes of them is no change.
LEAST_RATIO = 1.5


class NoiseChange(NamedTuple):
    """The first value with the other noise, and how probable one as plain is at one place."""

    place: int
    p_value: float


def find_noise_changes(apart: Floats, threshold: float) -> list[NoiseChange]:
    """The changes of noise, in order.

    Parameters
    ----------
    apart : array
        The values less their levels, without spikes, 0 where nothing is known.
    threshold : float
        Largest p-value of a place.

    Notes
    -----
    Square roots of sizes are about normal where values are (the fourth root of a chi-squared
    variable with one degree of freedom: Hawkins and Wixley, The American Statistician 40 (1986)
    296), so that a change of spread is a change of their level, found as other levels are.
    """
    if len(apart) < 2 * SHORTEST_NOISE or float(np.abs(apart).max()) <= resolution(apart):
        return []
    found = level_changes(without_spikes(np.sqrt(np.abs(apart))), threshold, SHORTEST_NOISE)
    bounds = [0, *found.places, len(apart)]
    spreads = [_spread(apart[first:last]) for first, last in pairwise(bounds)]
    kept: list[NoiseChange] = []
    for number, place in enumerate(found.places):
        shortest = min(place - bounds[number], bounds[number + 2] - place)
        before, after = spreads[number], spreads[number + 1]
        plain = before <= 0.0 or after <= 0.0 or abs(log(after / before)) >= log(LEAST_RATIO)
        if shortest >= SHORTEST_NOISE and plain and before != after:
            kept.append(NoiseChange(place, float(found.p_values[number])))
    return kept


def _spread(apart: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(apart))))


def local_spreads(apart: Floats, changes: list[NoiseChange]) -> Floats:
    """For each value the spread between the changes of noise around it; above 0."""
    floor = max(resolution(apart), float(np.finfo(np.float64).tiny))
    spreads = np.empty(len(apart))
    for first, last in pairwise([0, *(one.place for one in changes), len(apart)]):
        spreads[first:last] = max(floor, _spread(apart[first:last]))
    return spreads
