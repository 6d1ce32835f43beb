"""Sums of small differences: creeps that no single value shows."""

from __future__ import annotations

from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.table_distributions import t_two_sided_p_values
from steelyard.analysis.history.series import Floats

# Drifts by half a standard deviation are what the sums are built for (Page, Biometrika 41 (1954)
# 100): half of that is allowed for at each value.
ALLOWANCE = 0.25
# The mean and the spread of fewer values are hardly known.
SETTLING_COUNT = 12
_FAR = 8.0


class Crossing(NamedTuple):
    """A sum that crossed its threshold: where it last began to rise, and where it crossed."""

    began: int
    crossed: int


def crossings(values: Floats, memory: float, rate: float) -> list[Crossing]:
    """The crossings of the self-starting sums of a track, in order.

    Parameters
    ----------
    values : array
        Without spikes.
    memory : float
        Lag-1 correlation of the noise.
    rate : float
        Crossings for each value of a stationary track.

    Notes
    -----
    Hawkins, The Statistician 36 (1987) 299: each value less the mean of those before it, in units
    of their spread, has Student's distribution and is brought to the normal one by it, so that no
    mean has to be known beforehand; two one-sided sums (Page 1954). Values that remember are taken
    as their part that is new. The threshold has the asked run length by Siegmund's approximation
    (Sequential Analysis, 1985, section 2.6). After a crossing everything begins anew.
    """
    new = values.astype(np.float64)
    new[1:] = (values[1:] - memory * values[:-1]) / sqrt(1.0 - memory * memory)
    allowance = ALLOWANCE * sqrt((1.0 - memory) / (1.0 + memory))
    threshold = sum_threshold(rate, allowance)
    found: list[Crossing] = []
    start = 1
    while (crossing := _first_crossing(new, start, allowance, threshold)) is not None:
        found.append(crossing)
        start = crossing.crossed + 1
    return found


def sum_threshold(rate: float, allowance: float) -> float:
    """The threshold of two one-sided sums that cross once in 1 / rate normal values."""
    length = 2.0 / rate
    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2.0
        reach = 2.0 * allowance * (middle + 1.166)
        lengths = (exp(min(700.0, reach)) - reach - 1.0) / (2.0 * allowance**2)
        low, high = (middle, high) if lengths < length else (low, middle)
    return high


def _first_crossing(new: Floats, start: int, allowance: float, threshold: float) -> Crossing | None:
    normals = _normal_steps(new[start:])
    sums = [0.0, 0.0]
    began = [start, start]
    for offset, step in enumerate(normals.tolist()):
        for way, sign in enumerate((1.0, -1.0)):
            sums[way] = max(0.0, sums[way] + sign * step - allowance)
            if sums[way] == 0.0:
                began[way] = start + offset + 1
            if sums[way] > threshold:
                return Crossing(began[way], start + offset)
    return None


def _normal_steps(values: Floats) -> Floats:
    """Each value by those before it, as a normal deviate; 0 while too few are known."""
    count = len(values)
    if count <= SETTLING_COUNT:
        return np.zeros(count)
    centred = values - values[0]
    counts = np.arange(count, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(centred)[:-1]])
    squares = np.concatenate([[0.0], np.cumsum(centred * centred)[:-1]])
    known = np.maximum(counts, 2.0)
    means = sums / known
    variances = np.maximum(0.0, squares - sums * means) / (known - 1.0)
    spreads: Floats = np.sqrt(variances * (known + 1.0) / known)
    apart = centred - means
    far: Floats = np.copysign(np.full(count, np.inf), apart)
    far[apart == 0.0] = 0.0
    statistics = np.divide(apart, spreads, out=far, where=spreads > 0.0)
    chances = t_two_sided_p_values(statistics, known - 1.0) / 2.0
    sizes = np.array([_FAR if p < 1e-15 else -normal_quantile(p) for p in chances.tolist()])
    steps = np.sign(apart) * sizes
    steps[:SETTLING_COUNT] = 0.0
    return steps
