"""Values far from their level that are back on it soon: spikes."""

from __future__ import annotations

from itertools import pairwise
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
# Tails longer than Student's t with 3 degrees are rare among metrics of programs; shorter than
# this one they can't be told to be.
_LEAST_INDEX, _MOST_INDEX = 3.0, 8.0
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


def find_spikes(apart: Floats, rate: float) -> tuple[Spike, ...]:
    """The spikes of a track, in order.

    Parameters
    ----------
    apart : array
        The values less their levels and drifts.
    rate : float
        Spikes that may be found by chance, for each value of a stationary track.

    Notes
    -----
    The distance that the farthest hundredth of the track's own values has, or the farthest of a
    short track, is where its tail begins; beyond, the tail is taken for one of Pareto's, with the
    index of the track's own farthest twentieth (Hill, Annals of Statistics 3 (1975) 1163) less a
    standard error, between 3 and 8. Up to four values beside each other on one side are one spike;
    its nearest value says how far it is, and as many have to be as far at once as the track's
    memory leaves independent.
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
        nearest = float(own[0])
        chance = _of_run(tail.chance(nearest), last - first + 1, memory)
        if chance <= rate and (not found or first > found[-1].last):
            found.append(Spike(first, last, min(1.0, max(1e-300, chance * len(apart)))))
    return tuple(found)


def _ends(ordered: Floats) -> tuple[float, float]:
    """Quantiles of 1 and 99 % of values in order."""
    last = len(ordered) - 1
    low, high = (
        float(np.interp(share * last, (at, at + 1), ordered[at : at + 2]))
        for share, at in ((s, int(s * last)) for s in (_TAIL_SHARE, 1.0 - _TAIL_SHARE))
    )
    return low, high


def _without(ordered: Floats, some: Floats) -> Floats:
    """Sizes in order less some of them, which are in order too."""
    places = np.searchsorted(ordered, some)
    # Of equal sizes each takes one away.
    places += np.arange(len(some)) - np.searchsorted(some, some)
    bounds = [-1, *places.tolist(), len(ordered)]
    return np.concatenate([ordered[last + 1 : first] for last, first in pairwise(bounds)])


def _tail_of(sizes: Floats, floor: float) -> _Tail:
    """The tail of sizes in order."""
    count = len(sizes)
    share = max(_TAIL_SHARE, 1.0 / (count + 1))
    begin = max(floor, float(sizes[min(count - 1, int(np.ceil((1.0 - share) * count)))]))
    farthest = max(_FEWEST_OF_INDEX, int(_INDEX_SHARE * count))
    least = float(sizes[-farthest - 1]) if farthest < count else 0.0
    if least <= floor:
        return _Tail(sizes, share, begin, _LEAST_INDEX)
    excess = float(np.log(sizes[-farthest:] / least).mean())
    index = (1.0 - farthest**-0.5) / excess if excess > 0.0 else _MOST_INDEX
    return _Tail(sizes, share, begin, min(_MOST_INDEX, max(_LEAST_INDEX, index)))


def _of_run(chance: float, count: int, memory: float) -> float:
    """The chance of `count` values beside each other on one side, each at least as far.

    Of each length there is one at every place; most of what may be found by chance is kept for
    single values.
    """
    many = _OF_SINGLE if count == 1 else _OF_OTHERS
    return many * chance * (chance / 2.0) ** ((count - 1) * (1.0 - memory))


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
