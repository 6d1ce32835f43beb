"""Segments of one level each, and how plain the change between two neighbours is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_two_sided_p_values
from steelyard.analysis.history.level_scan import SHORTEST_SEGMENT, SHORTEST_SIDE
from steelyard.analysis.history.noise_scale import NoiseScale
from steelyard.analysis.history.series import Floats, Integers

_MOVES = 2
# Of a long segment, what lies near its change says how plain the change is.
LONGEST_SIDE = 400
# Segments of few values borrow the noise of the track, as if it were so many more values.
_BORROWED = 10.0
_LEAST_VARIANCE = 1e-140


@dataclass(frozen=True)
class Segments:
    """The division of a series.

    Parameters
    ----------
    places : tuple of int
        Where each segment but the first begins.
    p_values : array
        For each place, of the two segments beside it having one mean.
    deviations : array
        How far apart those means are, in standard deviations of the values.
    """

    places: tuple[int, ...]
    p_values: Floats
    deviations: Floats


class LevelSums:
    """Sums of values and of their squares up to each place, for means and spreads of any stretch.

    Parameters
    ----------
    centred : array
        Values around their median, so that squares lose few digits.
    spreads : array, optional
        The deviation around each value, where it is not the track's everywhere.
    """

    def __init__(self, centred: Floats, spreads: Floats | None = None) -> None:
        self.count = len(centred)
        self.sums = _sums_to(centred)
        self.squares = _sums_to(centred * centred)
        self.spreads = None if spreads is None else _sums_to(spreads * spreads)

    def sides(self, firsts: Integers, lasts: Integers, noise: NoiseScale) -> _Sides:
        """What is known of the levels of stretches from `firsts` up to before `lasts`."""
        sizes = (lasts - firsts).astype(np.float64)
        sums = self.sums[lasts] - self.sums[firsts]
        means = sums / sizes
        around = np.maximum(0.0, self.squares[lasts] - self.squares[firsts] - sums * means)
        usual: Floats | float = noise.deviation**2
        if self.spreads is not None:
            usual = (self.spreads[lasts] - self.spreads[firsts]) / sizes
        # Sums over stretches of unlike spreads may lose a small one.
        usual = np.maximum(usual, _LEAST_VARIANCE)
        own = (around + _BORROWED * usual) / (sizes - 1.0 + _BORROWED)
        factor = noise.mean_factor(sizes)
        freedom = np.maximum(2.0, (sizes + _BORROWED) / factor - 1.0)
        return _Sides(means, own, own * factor / sizes, freedom)

    def best_split(self, first: int, last: int, left: int, right: int) -> int:
        """The place between `first` and `last` at which two levels fit best.

        At least `left` values lie before it, and `right` from it on.
        """
        left, right = max(1, left), max(1, right)
        begin = float(self.sums[first])
        before = self.sums[first + left : last - right + 1] - begin
        after = (float(self.sums[last]) - begin) - before
        counts = _counts_to(last - first)
        before *= before
        before /= counts[left : last - first - right + 1]
        after *= after
        after /= counts[right : last - first - left + 1][::-1]
        before += after
        return first + left + int(before.argmax())


@lru_cache(maxsize=4096)
def _counts_to(most: int) -> Floats:
    return np.arange(most + 1, dtype=np.float64)


class _Sides(NamedTuple):
    """For stretches: means, variances of values and of means, degrees of freedom of those."""

    means: Floats
    variances: Floats
    of_means: Floats
    degrees: Floats


def _sums_to(values: Floats) -> Floats:
    sums = np.empty(len(values) + 1)
    sums[0] = 0.0
    np.cumsum(values, out=sums[1:])
    return sums


def settle_segments(
    sums: LevelSums, places: list[int], noise: NoiseScale, threshold: float
) -> Segments:
    """The places that stay, each moved to where two levels fit best.

    Parameters
    ----------
    sums : LevelSums
        Of values without spikes.
    places : list of int
        Candidates in order.
    noise : NoiseScale
    threshold : float
        Largest p-value that stays. The least plain places go first.
    """
    kept = _moved(sums, places)
    while kept:
        found = judged_places(sums, kept, noise)
        if found.p_values.max() <= threshold:
            moved = _moved(sums, kept)
            if moved == kept:
                return found
            kept = moved
            found = judged_places(sums, kept, noise)
            if found.p_values.max() <= threshold:
                return found
        going = _least_plain(found.p_values, threshold)
        kept = [place for place, goes in zip(kept, going, strict=True) if not goes]
    return Segments((), np.zeros(0), np.zeros(0))


def _least_plain(p_values: Floats, threshold: float) -> list[bool]:
    """Which places go: those above the threshold that are less plain than both neighbours."""
    padded = np.concatenate([[-1.0], p_values, [-1.0]])
    least = (p_values > padded[:-2]) & (p_values >= padded[2:])
    going = least & (p_values > threshold)
    if not going.any():
        going[int(np.argmax(p_values))] = True
    return going.tolist()


def judged_places(sums: LevelSums, places: list[int], noise: NoiseScale) -> Segments:
    """The segments that begin at these places, with Welch's t between neighbours.

    Notes
    -----
    The variance of each mean has the factor of the track's memory. A segment's own variance is
    weighed with that of the track, which counts as `_BORROWED` values, so that five values that
    happen to lie close together do not make a change plain.
    """
    bounds = np.array([0, *places, sums.count])
    inner = bounds[1:-1]
    firsts = np.concatenate([np.maximum(bounds[:-2], inner - LONGEST_SIDE), inner])
    lasts = np.concatenate([inner, np.minimum(bounds[2:], inner + LONGEST_SIDE)])
    # For each place the stretch before it, and the one from it on.
    sides = sums.sides(firsts, lasts, noise)
    means, variances, of_means, degrees_of = (each.reshape(2, -1) for each in sides)
    total = of_means[0] + of_means[1]
    apart = means[1] - means[0]
    statistics = apart / np.sqrt(total)
    deviations = np.abs(apart) / np.sqrt((variances[0] + variances[1]) / 2.0)
    of_each = of_means**2 / degrees_of
    degrees = total**2 / (of_each[0] + of_each[1])
    return Segments(tuple(places), t_two_sided_p_values(statistics, degrees), deviations)


def _moved(sums: LevelSums, places: list[int]) -> list[int]:
    """The places, each where two levels fit the values between its neighbours best."""
    bounds = [0, *sorted(places), sums.count]
    before: list[int] = []
    for _ in range(_MOVES):
        last_time, before = before, list(bounds)
        for at in range(1, len(bounds) - 1):
            # Where nothing beside it moved, neither does it.
            if last_time and bounds[at - 1 : at + 2] == last_time[at - 1 : at + 2]:
                continue
            first = max(bounds[at - 1], bounds[at] - LONGEST_SIDE)
            last = min(bounds[at + 1], bounds[at] + LONGEST_SIDE)
            short = SHORTEST_SEGMENT if last - first > 2 * SHORTEST_SEGMENT else 1
            # At the ends of a series a level may only have begun, or have been cut off.
            left = min(short, SHORTEST_SIDE) if first == 0 else short
            right = min(short, SHORTEST_SIDE) if last == sums.count else short
            bounds[at] = sums.best_split(first, last, left, right)
        if bounds == before:
            break
    return sorted({place for place in bounds[1:-1] if 0 < place < sums.count})
