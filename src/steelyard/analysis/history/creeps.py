"""Slow drifts: several steps in one direction, or one, that a straight rise explains better."""

from __future__ import annotations

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
    levels = [float(values[first:last].mean()) for first, last in pairwise(bounds)]
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
    places = np.arange(0, count, SHORTEST_CREEP // 3)
    return _Sums(near).best(places, places).squares > _squares_of_stairs(near, [place - first])


def _squares_of_stairs(values: Floats, places: list[int]) -> float:
    bounds = [0, *places, len(values)]
    return sum(
        float(np.square(values[first:last] - values[first:last].mean()).sum())
        for first, last in pairwise(bounds)
    )


def best_ramp(values: Floats) -> _Ramp:
    """The level that rises along a line to another with the least squares.

    A grid of beginnings and ends, made finer around the best three times.
    """
    count = len(values)
    sums = _Sums(values)
    firsts = lasts = np.unique(np.linspace(0, count - 1, _PLACES).astype(np.int64))
    best = sums.best(firsts, lasts)
    step = max(1, count // _PLACES)
    for _ in range(_REFINEMENTS):
        around = np.arange(-step, step + 1, max(1, step // 5))
        firsts = np.unique(np.clip(best.first + around, 0, count - 1))
        lasts = np.unique(np.clip(best.last + around, 0, count - 1))
        best = min(best, sums.best(firsts, lasts))
        step = max(1, step // 5)
    return best


class _Sums:
    """Sums of values, and of values by their place, up to each place."""

    def __init__(self, values: Floats) -> None:
        centred = values - values.mean()
        self.count = len(values)
        self.total_squares = float(centred @ centred)
        self.sums = np.concatenate([[0.0], np.cumsum(centred)])
        self.moments = np.concatenate([[0.0], np.cumsum(centred * np.arange(self.count))])

    def best(self, firsts: Integers, lasts: Integers) -> _Ramp:
        """The best ramp that begins and ends at some of these places."""
        first, last = np.meshgrid(firsts, lasts, indexing="ij")
        long_enough = last - first >= SHORTEST_CREEP
        first, last = first[long_enough], last[long_enough]
        if not len(first):
            return _Ramp(self.total_squares, 0, self.count - 1, 0.0, 1.0)
        length = (last - first).astype(np.float64)
        along = self.moments[last] - self.moments[first]
        along -= first * (self.sums[last] - self.sums[first])
        with_rise = along / length + (self.sums[-1] - self.sums[last])
        # Of the ramp itself: 0, then k / length for k in 0 ... length - 1, then 1.
        after = self.count - last
        mean = ((length - 1) / 2 + after) / self.count
        spread = (length - 1) * (2 * length - 1) / (6 * length) + after - self.count * mean**2
        gains = with_rise**2 / spread
        at = int(np.argmax(gains))
        return _Ramp(
            max(0.0, self.total_squares - float(gains[at])),
            int(first[at]),
            int(last[at]),
            float(with_rise[at] / spread[at]),
            float(spread[at]),
        )
