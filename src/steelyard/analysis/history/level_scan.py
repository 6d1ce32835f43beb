"""Places at which a level may change: neighbouring means of many widths, beside the noise."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import sqrt

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.history.noise_scale import NoiseScale
from steelyard.analysis.history.series import Floats

# Widths double from the shortest segment on. The shortest side at the ends of a series.
SHORTEST_SEGMENT = 5
SHORTEST_SIDE = 3
_LONGEST_WIDTH = 1280


def scan_levels(
    sums: Floats, noise: NoiseScale, rate: float, narrowest: int = SHORTEST_SEGMENT
) -> list[int]:
    """Places at which neighbouring means differ by more than noise does, in order.

    Parameters
    ----------
    sums : array
        Of the values up to each place, one longer than the values.
    noise : NoiseScale
    rate : float
        False places for each value of a stationary series, about.
    narrowest : int, optional
        The first width; the others are its doubles.

    Notes
    -----
    The moving sums of Eichinger and Kirch, Bernoulli 24 (2018) 526, at several widths, from the
    narrowest up (Messer et al., Annals of Applied Statistics 8 (2014) 2027): a place that a width
    finds within its reach of one that a narrower width found is the same.
    """
    count = len(sums) - 1
    found: list[int] = []
    variances = noise.variances_of_means(min(count, _LONGEST_WIDTH))
    width = narrowest
    while 2 * width <= max(count, 2 * SHORTEST_SEGMENT) and width <= _LONGEST_WIDTH:
        for place in _places(sums, width, noise, variances, rate):
            at = bisect_left(found, place)
            if (at == 0 or place - found[at - 1] >= width) and (
                at == len(found) or found[at] - place >= width
            ):
                found.insert(at, place)
        width *= 2
    return found


def _places(
    sums: Floats, width: int, noise: NoiseScale, variances: Floats, rate: float
) -> list[int]:
    """The peaks of one width above its threshold."""
    count = len(sums) - 1
    if count < width + SHORTEST_SIDE:
        return []
    statistic = _statistic(sums, width, noise.deviation, variances)
    # Wide means have few independent places, so that their threshold may be lower.
    threshold = _threshold(min(0.05, rate * sqrt(width)), max(3.0, noise.count / 4.0))
    above = np.flatnonzero(statistic > threshold)
    if not len(above):
        return []
    # Stretches without gaps.
    ends = np.flatnonzero(above[1:] - above[:-1] > 1)
    begins = [int(above[0]), *above[ends + 1].tolist()]
    places: list[int] = []
    for begin, last in zip(begins, [*above[ends].tolist(), int(above[-1])], strict=True):
        stretch = statistic[begin : last + 1]
        tops = [int(stretch.argmax())] if len(stretch) <= width else _peaks_of(stretch, width)
        places.extend(SHORTEST_SIDE + begin + at for at in tops)
    return places


def _peaks_of(heights: Floats, width: int) -> list[int]:
    """The peaks of a stretch above the threshold, at least `width` apart, the largest first."""
    found: list[int] = []
    while True:
        at = int(heights.argmax())
        if heights[at] < 0.0:
            return found
        found.append(at)
        heights[max(0, at - width + 1) : at + width] = -1.0


def _statistic(sums: Floats, width: int, deviation: float, variances: Floats) -> Floats:
    """|difference of means| over its deviation, at each place with three values on each side.

    Near the ends the window on that side is as wide as there are values.
    """
    count = len(sums) - 1
    begin, end = max(SHORTEST_SIDE, width), min(count - SHORTEST_SIDE, count - width) + 1
    if begin >= end:
        edges = np.arange(SHORTEST_SIDE, count - SHORTEST_SIDE + 1)
        lower, upper = np.maximum(edges - width, 0), np.minimum(edges + width, count)
        left, right = edges - lower, upper - edges
        apart = (sums[upper] - sums[edges]) / right - (sums[edges] - sums[lower]) / left
        return np.abs(apart) / (deviation * np.sqrt(variances[left] + variances[right]))
    statistic = np.empty(count - 2 * SHORTEST_SIDE + 1)
    full = statistic[begin - SHORTEST_SIDE : end - SHORTEST_SIDE]
    np.multiply(sums[begin:end], 2.0, out=full)
    np.subtract(sums[begin + width : end + width], full, out=full)
    full += sums[begin - width : end - width]
    np.abs(full, out=full)
    full *= 1.0 / (width * deviation * sqrt(2.0 * float(variances[width])))
    # At the ends a shorter mean, of what there is, beside a whole one.
    short = np.arange(SHORTEST_SIDE, begin)
    scale = deviation * np.sqrt(variances[SHORTEST_SIDE:begin] + variances[width])
    first = sums[SHORTEST_SIDE:begin]
    apart = (sums[SHORTEST_SIDE + width : begin + width] - first) / width - first / short
    statistic[: begin - SHORTEST_SIDE] = np.abs(apart) / scale
    last = sums[end : count - SHORTEST_SIDE + 1]
    before = sums[end - width : count - SHORTEST_SIDE + 1 - width]
    apart = (sums[count] - last) / short[::-1] - (last - before) / width
    statistic[end - SHORTEST_SIDE :] = np.abs(apart) / scale[::-1]
    return statistic


@lru_cache(maxsize=1024)
def _threshold(rate: float, degrees: float) -> float:
    return t_quantile(1.0 - rate / 2, degrees)
