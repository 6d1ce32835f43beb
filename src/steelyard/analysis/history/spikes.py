"""Values far from their level that are back on it soon: spikes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.analysis.history.memory import lag_memory
from steelyard.analysis.history.noise_scale import resolution
from steelyard.analysis.history.series import Floats

# What lasts longer is a level.
LONGEST_SPIKE = 4
# Shorter tracks do not show what their own far values are.
FEWEST_VALUES = 20
_TAIL_SHARE = 0.01
_INDEX_SHARE = 0.05
_FEWEST_OF_INDEX = 10
_OWN_SHARE = 0.04
# The inverse of the parts of the rate that single values and each longer spike have.
_OF_SINGLE, _OF_OTHERS = 1 / 0.7, 1 / 0.1
# Memory is told without the farthest values, so that a spike's own are no memory.
_SHARE_OF_MEMORY = 0.05
# A tail longer than the least has no standard deviation; that one is shorter than the most can't be
# told from as few values.
_LEAST_INDEX, _MOST_INDEX = 2.0, 8.0
# What is beside a spike is nearer to the level than this part of it.
_BACK = 0.5


class Spike(NamedTuple):
    """The first and the last value of a spike, and how probable one as far is in the track."""

    first: int
    last: int
    p_value: float


class _Tail(NamedTuple):
    """How probable values as far are: by the track's own, beyond `begin` by a law of Pareto's."""

    sizes: Floats
    share: float
    begin: float
    exponent: float

    def chance(self, far: float) -> float:
        """Of one value at least as far."""
        if far > self.begin:
            return self.share * (self.begin / far) ** self.exponent
        inner = 1.0 - float(np.searchsorted(self.sizes, far)) / max(1, len(self.sizes))
        return max(self.share, inner)

    def distance(self, chance: float) -> float:
        """How far a value is at least that has no larger chance."""
        if chance <= self.share:
            return self.begin * (self.share / chance) ** (1.0 / self.exponent)
        return float(self.sizes[min(len(self.sizes) - 1, int((1.0 - chance) * len(self.sizes)))])


def find_spikes(apart: Floats, rate: float, places: Sequence[int] = ()) -> tuple[Spike, ...]:
    """The spikes of a track, in order.

    Parameters
    ----------
    apart : array
        The values less their levels and drifts.
    rate : float
        Spikes that may be found by chance, for each value of a stationary track.
    places : sequence of int, optional
        Where levels begin, the first one not counted.

    Notes
    -----
    The distance that the farthest hundredth of the track's own values has, or the farthest of a
    short track, is where its tail begins; beyond, the tail is taken for one of Pareto's, with the
    index of the track's own farthest twentieth (Hill, Annals of Statistics 3 (1975) 1163) less a
    standard error, between 2 and 8. Up to four values beside each other on one side are one spike;
    its nearest value says how far it is, and as many have to be as far at once as the track's
    memory leaves independent, on one side as often as the track's far values are.
    """
    if len(apart) < FEWEST_VALUES or not apart.any():
        return ()
    found: list[Spike] = []
    sizes, floor = np.abs(apart), resolution(apart)
    ordered = np.sort(sizes)
    memory = lag_memory(np.clip(apart, *_ends(np.sort(apart))))
    for first, last in _candidates(apart, ordered, memory, rate):
        own = np.sort(sizes[first : last + 1])
        tail = _tail_of(_without(ordered, own), floor)
        nearest = float(own[0]) / _more_spread(len(own), _level_of(first, places, len(apart)))
        one_side = _share_of_side(apart, ordered, (first, last)) if first < last else 0.5
        chance = _of_run(tail.chance(nearest), last - first + 1, memory, one_side)
        if chance <= rate and (not found or first > found[-1].last):
            found.append(Spike(first, last, min(1.0, max(1e-300, chance * len(apart)))))
    return tuple(found)


def _level_of(place: int, places: Sequence[int], count: int) -> int:
    """How many values the level at a place has."""
    at = bisect_right(places, place)
    return (places[at] if at < len(places) else count) - (places[at - 1] if at else 0)


def _more_spread(count: int, level_count: int) -> float:
    """How much farther the mean of a run lies from a level that is the median of few values.

    That median has a variance of pi / 2 over their number (Cramer 1946, section 28.5, for normal
    values), which all values of the run share.
    """
    others = max(1, level_count - count)
    return sqrt(1.0 + pi / 2 * count / others)


def with_taken_back(found: Sequence[Spike], others: Sequence[Spike]) -> list[Spike]:
    """The spikes found, with the others that share no value with any of them, in order."""
    kept = [
        one
        for one in others
        if all(one.last < other.first or one.first > other.last for other in found)
    ]
    return sorted([*found, *kept])


def _ends(ordered: Floats) -> tuple[float, float]:
    """Between which the values in order lie that show the memory."""
    place = int(_SHARE_OF_MEMORY * len(ordered))
    return float(ordered[place]), float(ordered[-place - 1])


def _without(ordered: Floats, some: Floats) -> Floats:
    """Sizes in order less some of them, which are in order too."""
    places = np.searchsorted(ordered, some)
    # Of equal sizes each takes one away.
    places += np.arange(len(some)) - np.searchsorted(some, some)
    bounds = [-1, *places.tolist(), len(ordered)]
    return np.concatenate([ordered[last + 1 : first] for last, first in pairwise(bounds)])


def _count_of_index(count: int) -> int:
    return max(_FEWEST_OF_INDEX, int(_INDEX_SHARE * count))


def _tail_of(sizes: Floats, floor: float) -> _Tail:
    """The tail of sizes in order."""
    count = len(sizes)
    share = max(_TAIL_SHARE, 1.0 / (count + 1))
    begin = max(floor, float(sizes[min(count - 1, int(np.ceil((1.0 - share) * count)))]))
    farthest = _count_of_index(count)
    least = float(sizes[-farthest - 1]) if farthest < count else 0.0
    if least <= floor:
        return _Tail(sizes, share, begin, _LEAST_INDEX)
    excess = float(np.log(sizes[-farthest:] / least).mean())
    index = (1.0 - farthest**-0.5) / excess if excess > 0.0 else _MOST_INDEX
    return _Tail(sizes, share, begin, min(_MOST_INDEX, max(_LEAST_INDEX, index)))


def _share_of_side(apart: Floats, ordered: Floats, run: tuple[int, int]) -> float:
    """The part of the track's far values, without the run's, that lies on the side of more."""
    least = ordered[max(0, len(ordered) - _count_of_index(len(ordered)) - 1)]
    right, left = int((apart > least).sum()), int((apart < -least).sum())
    own = apart[run[0] : run[1] + 1]
    right, left = right - int((own > least).sum()), left - int((own < -least).sum())
    return (max(right, left) + 1.0) / (right + left + 2.0)


def _of_run(chance: float, count: int, memory: float, one_side: float = 0.5) -> float:
    """The chance of `count` values beside each other on one side, each at least as far.

    `one_side` is the part of far values that lies on one side: in a track with a long tail to that
    side, neighbours that are far are on the same side more often than every other time.
    Of each length there is one at every place; most of what may be found by chance is kept for
    single values.
    """
    many = _OF_SINGLE if count == 1 else _OF_OTHERS
    if count == 1:
        return many * chance
    same = (one_side**count + (1.0 - one_side) ** count) ** (1.0 / (count - 1))
    return many * chance * (chance * same) ** ((count - 1) * (1.0 - memory))


def _of_value(chance: float, count: int, memory: float) -> float:
    """The chance of each value of a run that has `chance`: the inverse of `_of_run`."""
    others = (count - 1) * (1.0 - memory)
    many = _OF_SINGLE if count == 1 else _OF_OTHERS
    return (chance / many * 2.0**others) ** (1.0 / (1.0 + others))


def _candidates(
    apart: Floats, ordered: Floats, memory: float, rate: float
) -> list[tuple[int, int]]:
    """Runs on one side that may be spikes, each place in one alone, in order of place.

    Beside a tail without the farthest values, which may be a spike's own.
    """
    sizes = np.abs(apart)
    own = max(LONGEST_SPIKE, int(_OWN_SHARE * len(apart)))
    tail = _tail_of(ordered[:-own], resolution(apart))
    runs: dict[tuple[int, int], float] = {}
    for count in range(1, LONGEST_SPIKE + 1):
        nearest = sizes[: len(sizes) - count + 1]
        for later in range(1, count):
            nearest = np.minimum(nearest, sizes[later : len(sizes) - count + 1 + later])
        far = nearest >= tail.distance(_of_value(rate, count, memory))
        for place in np.flatnonzero(far).tolist():
            run = (place, place + count - 1)
            if _is_one_sided(apart, run) and _is_back(apart, run, float(nearest[place])):
                runs[run] = _of_run(tail.chance(float(nearest[place])), count, memory)
    chosen: list[tuple[int, int]] = []
    for run in sorted(runs, key=lambda one: runs[one]):
        if all(run[1] < other[0] or run[0] > other[1] for other in chosen):
            chosen.append(run)
    return sorted(chosen)


def _is_one_sided(apart: Floats, run: tuple[int, int]) -> bool:
    signs = apart[run[0] : run[1] + 1] > 0.0
    return bool(signs.all() or not signs.any())


def _is_back(apart: Floats, run: tuple[int, int], nearest: float) -> bool:
    """Whether the values beside a run are on their level again."""
    side = 1.0 if apart[run[0]] > 0.0 else -1.0
    beside = [at for at in (run[0] - 1, run[1] + 1) if 0 <= at < len(apart)]
    return all(side * apart[at] < _BACK * nearest for at in beside)
