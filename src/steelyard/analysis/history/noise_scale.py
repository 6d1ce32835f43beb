"""How a track varies without any change: the spread of its values and of their means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from steelyard.analysis.history.series import Floats, Integers

# The median of the size of a normal deviate.
_MEDIAN_SIZE = 0.6744897501960817
# The mean size of the normal deviates within the 95 % that are smallest.
_TRIMMED_SIZE = 0.7136
_TRIMMED = 0.95
# With fewer values the middle one is not among the smallest.
_FEWEST = 3
_CLIP = 3.0
# The scales from which the memory is read: long enough to show it, short enough for few changes.
_SHORT, _LONG = 5, 10
_MOST_MEMORY = 0.95
_MEMORIES = np.linspace(0.0, _MOST_MEMORY, 96)
_UNSEEN_MEMORY = 0.5
_LEAST_RELATIVE = 1e-12
# The deviation of so many normal values is known to a hundredth.
MOST_LOOKED_AT = 4096
# The logarithm of what adds nothing to 1.
_NOTHING = -40.0


@dataclass(frozen=True)
class NoiseScale:
    """The noise of one track.

    Parameters
    ----------
    deviation : float
        Standard deviation of single values around their level, in the track's unit; above 0.
    memory : float
        Lag-1 correlation of an autoregression with this noise, 0 to 0.95.
    count : int
        Values it was estimated from.
    """

    deviation: float
    memory: float
    count: int

    def mean_factor(self, counts: Floats) -> Floats:
        """What the variance of means of so many values is multiplied by, for each count."""
        if self.memory <= 0.0:
            return np.ones(len(counts))
        rest = 1.0 - self.memory
        # Powers beyond what is left of 1 are slow, and nothing.
        powers = self.memory ** np.minimum(counts, _NOTHING / log(self.memory))
        tails = self.memory * (1.0 - powers) / (counts * rest * rest)
        return np.maximum(1.0, 1.0 + 2.0 * (self.memory / rest - tails))

    def variances_of_means(self, longest: int) -> Floats:
        """Of the means of 1, 2 ... `longest` values, in units of that of one; 0 of none."""
        counts = np.arange(1.0, longest + 1.0)
        return np.concatenate([[0.0], self.mean_factor(counts) / counts])


def without_spikes(values: Floats) -> Floats:
    """The values, each brought within 3 deviations of the median of the five around it.

    A level of three values or more stays as it is.
    """
    if len(values) < 5:
        return values
    middle = medians_of_five(values)
    apart = values - middle
    reach = _CLIP * max(robust_deviation(apart) * _FIVE_FACTOR, resolution(values))
    return middle + np.clip(apart, -reach, reach)


# The deviation of normal values over that of their distance from the median of the five around.
_FIVE_FACTOR = 1.245


def medians_of_five(values: Floats) -> Floats:
    """The median of each value with its two neighbours on both sides; fewer at the ends."""
    padded = np.concatenate([values[[1, 0]], values, values[[-1, -2]]])
    a, b, c, d, e = (padded[k : k + len(values)] for k in range(5))
    low, high = np.minimum(a, b), np.maximum(a, b)
    other_low, other_high = np.minimum(d, e), np.maximum(d, e)
    inner_low, inner_high = np.maximum(low, other_low), np.minimum(high, other_high)
    least, most = np.minimum(inner_low, inner_high), np.maximum(inner_low, inner_high)
    return np.clip(c, least, most)


def robust_deviation(values: Floats) -> float:
    """A standard deviation of values around 0 that a few large ones hardly move.

    The larger of two: by the median of sizes, and by the mean of the 95 % smallest, which is not 0
    where most values are the same. Of many values some are drawn, the same of as many.
    """
    sizes = np.abs(values if len(values) <= MOST_LOOKED_AT else values[_drawn(len(values))])
    if len(sizes) < _FEWEST:
        return float(sizes.max()) if len(sizes) else 0.0
    kept = int(_TRIMMED * len(sizes))
    # One place at a time: numpy has vector instructions for that, and not for several.
    smallest = np.partition(sizes, kept - 1)[:kept]
    middle = len(sizes) // 2
    by_median = float(np.partition(smallest, middle)[middle]) / _MEDIAN_SIZE
    return max(by_median, float(smallest.mean()) / _TRIMMED_SIZE)


def noise_scale(values: Floats, sums: Floats) -> NoiseScale:
    """The noise of values whose level may change now and then.

    Parameters
    ----------
    values : array
        Without spikes, at least 5.
    sums : array
        Of the values up to each place, one longer.

    Notes
    -----
    By differences of neighbouring means of 1, 5 and 10 values, which a change of level moves in few
    places (von Neumann, Annals of Mathematical Statistics 12 (1941) 367, for single values). The
    variance of a difference of neighbouring means of h values of an autoregression is known; the
    memory is the one with which the three spreads agree best.
    """
    count = len(values)
    floor = resolution(values)
    single = robust_deviation(np.diff(values))
    found = [single]
    for width in (_SHORT, _LONG):
        if count >= 6 * width:
            found.append(robust_deviation(differences_of_means(sums, width)))
    if max(found) <= floor:
        return NoiseScale(floor, 0.0, count)
    if len(found) == 1:
        # So short a track does not show its memory, and its differences are smaller by it.
        deviation = single / sqrt(2.0 * (1.0 - _UNSEEN_MEMORY))
        return NoiseScale(max(floor, deviation), _UNSEEN_MEMORY, count)
    if single <= floor:
        return NoiseScale(max(floor, max(found) / sqrt(2.0)), 0.0, count)
    table = _difference_table()
    logs = np.log(np.maximum(found, floor)) - np.log(table[: len(found)].T)
    centred = logs - logs.mean(axis=1, keepdims=True)
    best = int(np.argmin((centred**2).sum(axis=1)))
    deviation = float(np.exp(logs[best].mean()))
    return NoiseScale(max(floor, deviation), safe_memory(float(_MEMORIES[best]), count), count)


def safe_memory(memory: float, count: int) -> float:
    """Half a standard error more than was estimated: what memory does to means grows faster than
    it, so that an estimate right on average allows for too little."""
    return min(_MOST_MEMORY, max(0.0, memory) + 0.5 / sqrt(count))


def differences_of_means(sums: Floats, width: int) -> Floats:
    """The mean of `width` values less that of the `width` before them, at each place with both."""
    return (sums[2 * width :] - 2.0 * sums[width:-width] + sums[: -2 * width]) / width


def resolution(values: Floats) -> float:
    """What floating point resolves, and no more."""
    largest = float(np.abs(values).max()) if len(values) else 0.0
    return max(_LEAST_RELATIVE * largest, float(np.finfo(np.float64).tiny))


@lru_cache(maxsize=16)
def _drawn(count: int) -> Integers:
    """Places of `MOST_LOOKED_AT` of so many values, in order."""
    return np.sort(np.random.default_rng(count).choice(count, MOST_LOOKED_AT, replace=False))


_TABLE: list[Floats] = []


def _difference_table() -> Floats:
    """For widths 1, 5 and 10 the deviation of differences of means, for each of `_MEMORIES`."""
    if not _TABLE:
        _TABLE.append(
            np.array([[_difference_deviation(m, h) for m in _MEMORIES] for h in (1, _SHORT, _LONG)])
        )
    return _TABLE[0]


def _difference_deviation(memory: float, width: int) -> float:
    """Of neighbouring means of an autoregression whose values have the deviation 1."""
    lags = np.abs(np.subtract.outer(np.arange(2 * width), np.arange(2 * width)))
    weights = np.concatenate([np.full(width, -1.0), np.full(width, 1.0)]) / width
    return sqrt(float(weights @ (memory**lags) @ weights))
