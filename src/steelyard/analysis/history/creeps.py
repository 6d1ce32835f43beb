"""Slow drifts: several steps in one direction, or one, that a straight rise explains better."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_two_sided_p_values
from steelyard.analysis.history.noise_scale import NoiseScale
from steelyard.analysis.history.series import Floats, Integers

# What rises within fewer values is a step.
SHORTEST_CREEP = 12
_PLACES = 25
_REFINEMENTS = 3
# Of Schwarz's criterion: a step costs its place, its level and what memory mimics, as elsewhere;
# a rise that takes time one place more.
_COST_OF_STEP, _COST_OF_RISE = 3.0, 4.0
_LONGEST_SIDE = 400
_NEAR = 4 * SHORTEST_CREEP
_LEAST_SQUARES = 1e-300


class Creep(NamedTuple):
    """A drift from `first` to `last`, in place of the steps numbered `steps`."""

    first: int
    last: int
    p_value: float
    steps: range


class _Ramp(NamedTuple):
    squares: float
    first: int
    last: int
    rise: float
    spread: float


def find_creeps(values: Floats, places: tuple[int, ...], noise: NoiseScale) -> list[Creep]:
    """The drifts of a track whose levels begin at `places`, in order.

    Parameters
    ----------
    values : array
        Without spikes.
    places : tuple of int
    noise : NoiseScale

    Notes
    -----
    Where levels rise (or fall) one after the other, a staircase is fitted to them and a level that
    rises along a straight line to another; the one with the smaller criterion of Schwarz (Annals of
    Statistics 6 (1978) 461) is believed, with as many values as the noise's memory leaves.
    """
    bounds = [0, *places, len(values)]
    levels = (np.add.reduceat(values, bounds[:-1]) / np.diff(bounds)).tolist()
    found: list[Creep] = []
    for run in _one_way_runs(levels):
        creep = _creep_of(values, bounds, run, noise)
        if creep is not None:
            found.append(creep)
    return found


def _one_way_runs(levels: list[float]) -> list[range]:
    """The steps that follow each other in one direction, by number from 0."""
    ways = [later > earlier for earlier, later in pairwise(levels)]
    runs: list[range] = []
    for number, way in enumerate(ways):
        if runs and ways[runs[-1].start] == way:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs


def _creep_of(values: Floats, bounds: list[int], run: range, noise: NoiseScale) -> Creep | None:
    places = bounds[run.start + 1 : run.stop + 1]
    begin = max(bounds[run.start], places[0] - _LONGEST_SIDE)
    end = min(bounds[run.stop + 1], places[-1] + _LONGEST_SIDE)
    near = values[begin:end]
    if len(near) < 2 * SHORTEST_CREEP or (
        len(run) == 1 and _is_steep(values, places[0], begin, end)
    ):
        return None
    stairs = _squares_of_stairs(near, [place - begin for place in places])
    ramp = best_ramp(near)
    factor = float(noise.mean_factor(np.array([float(len(near))]))[0])
    count = len(near) / factor
    price = log(max(2.0, count))
    by_stairs = count * log(stairs + _LEAST_SQUARES) + price * _COST_OF_STEP * len(places)
    by_ramp = count * log(ramp.squares + _LEAST_SQUARES) + price * _COST_OF_RISE
    if by_ramp >= by_stairs:
        return None
    error = noise.deviation * sqrt(factor / ramp.spread)
    degrees = max(2.0, count - 4.0)
    p_value = float(t_two_sided_p_values(np.array([ramp.rise / error]), np.array([degrees]))[0])
    return Creep(begin + ramp.first, begin + ramp.last, p_value, run)


def _is_steep(values: Floats, place: int, begin: int, end: int) -> bool:
    """Whether the values near a single step are better explained by it than by any rise.

    A rise of any length looks like one there, and a step like a step.
    """
    first, last = max(begin, place - _NEAR), min(end, place + _NEAR)
    near = values[first:last]
    count = len(near)
    if count < 2 * SHORTEST_CREEP:
        return False
    by_ramp = _Sums(near).best(_every_third(count)).squares
    return by_ramp > _squares_of_stairs(near, [place - first])


def _squares_of_stairs(values: Floats, places: list[int]) -> float:
    bounds = [0, *places, len(values)]
    squares = 0.0
    for first, last in pairwise(bounds):
        part = values[first:last]
        apart = part - float(np.add.reduce(part)) / (last - first)
        squares += float(apart @ apart)
    return squares


def best_ramp(values: Floats) -> _Ramp:
    """The level that rises along a line to another with the least squares.

    A grid of beginnings and ends, made finer around the best three times.
    """
    count = len(values)
    sums = _Sums(values)
    best = sums.best(_all_over(count))
    step = max(1, count // _PLACES)
    for _ in range(_REFINEMENTS):
        around = _around(step)
        firsts = np.minimum(np.maximum(best.first + around, 0), count - 1)
        lasts = np.minimum(np.maximum(best.last + around, 0), count - 1)
        best = min(best, sums.best(_grid_of(firsts, lasts, count)))
        step = max(1, step // 5)
    return best


class _Grid(NamedTuple):
    """Ramps: where they begin (rows) and end (columns), and for each pair its length, and the
    squares of it around its mean; infinite where it would be too short."""

    firsts: Integers
    lasts: Integers
    lengths: Floats
    spreads: Floats


def _grid_of(firsts: Integers, lasts: Integers, count: int) -> _Grid:
    """All ramps among `count` values that begin and end at some of these places."""
    lengths = (lasts - firsts[:, np.newaxis]).astype(np.float64)
    too_short = lengths < SHORTEST_CREEP
    lengths[too_short] = SHORTEST_CREEP
    # Of the ramp itself: 0, then k / length for k in 0 ... length - 1, then 1.
    after = count - lasts
    mean = ((lengths - 1) / 2 + after) / count
    spreads = (lengths - 1) * (2 * lengths - 1) / (6 * lengths) + after - count * mean**2
    spreads[too_short] = np.inf
    return _Grid(firsts, lasts, lengths, spreads)


@lru_cache(maxsize=256)
def _around(step: int) -> Integers:
    return np.arange(-step, step + 1, max(1, step // 5))


@lru_cache(maxsize=256)
def _every_third(count: int) -> _Grid:
    """Ramps that begin and end at every third part of the shortest one's length."""
    places = np.arange(0, count, SHORTEST_CREEP // 3)
    return _grid_of(places, places, count)


@lru_cache(maxsize=1024)
def _all_over(count: int) -> _Grid:
    """Ramps between as many places all over the values."""
    places = np.unique(np.linspace(0, count - 1, _PLACES).astype(np.int64))
    return _grid_of(places, places, count)


class _Sums:
    """Sums of values, and of values by their place, up to each place."""

    def __init__(self, values: Floats) -> None:
        centred = values - values.mean()
        self.count = len(values)
        self.total_squares = float(centred @ centred)
        self.sums = np.concatenate([[0.0], np.cumsum(centred)])
        self.moments = np.concatenate([[0.0], np.cumsum(centred * np.arange(self.count))])

    def best(self, grid: _Grid) -> _Ramp:
        """The best ramp of a grid."""
        firsts, lasts, lengths, spreads = grid
        sums_to_last = self.sums[lasts]
        along = self.moments[lasts] - self.moments[firsts][:, np.newaxis]
        sums = sums_to_last - self.sums[firsts][:, np.newaxis]
        along -= firsts[:, np.newaxis] * sums
        with_rise = along / lengths + (self.sums[-1] - sums_to_last)
        gains = with_rise**2 / spreads
        row, column = divmod(int(gains.argmax()), len(lasts))
        spread = float(spreads[row, column])
        if spread == np.inf:
            return _Ramp(self.total_squares, 0, self.count - 1, 0.0, 1.0)
        return _Ramp(
            max(0.0, self.total_squares - float(gains[row, column])),
            int(firsts[row]),
            int(lasts[column]),
            float(with_rise[row, column]) / spread,
            spread,
        )
