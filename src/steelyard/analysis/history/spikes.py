"""Values far from their level that are back on it soon: spikes."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from steelyard.analysis.history.noise_scale import resolution
from steelyard.analysis.history.series import Floats

# What lasts longer is a level.
LONGEST_SPIKE = 4
_TAIL_SHARE = 0.01
# How fast the chance of a value falls with its distance beyond the tail's beginning: as that of
# Student's t with 3 degrees, so that few metrics of programs have a longer tail.
_TAIL_INDEX = 3.0
# Shorter tracks do not show what their own far values are.
FEWEST_VALUES = 20


class Spike(NamedTuple):
    """The first and the last value of a spike, and how probable one as far is in the track."""

    first: int
    last: int
    p_value: float


def find_spikes(values: Floats, places: tuple[int, ...], rate: float) -> tuple[Spike, ...]:
    """The spikes of a track, in order.

    Parameters
    ----------
    values : array
    places : tuple of int
        Where levels begin; each level's median is what its values are apart from.
    rate : float
        Spikes that may be found by chance, for each value of a stationary track.

    Notes
    -----
    The distance that the farthest hundredth of the track's own values has, or the farthest of a
    short track, is where its tail begins; beyond, the tail is taken for one of Pareto's with the
    index 3 (Hill, Annals of Statistics 3 (1975) 1163, for such tails). A track with a long tail so
    has its own far values, and one without has none. Values next to each other on one side are one
    spike, and its nearest value says how far it is.
    """
    count = len(values)
    if count < FEWEST_VALUES:
        return ()
    apart = _around_medians(values, places)
    found: list[Spike] = []
    share = max(_TAIL_SHARE, 1.0 / count)
    floor = resolution(values)
    for first, last in _far_runs(apart, share, rate):
        others = np.abs(np.concatenate([apart[:first], apart[last + 1 :]]))
        tail = max(floor, float(np.quantile(others, 1.0 - share, method="higher")))
        nearest = float(np.abs(apart[first : last + 1]).min())
        chance = share * (tail / nearest) ** _TAIL_INDEX if nearest > 0.0 else 1.0
        if chance <= rate:
            found.append(Spike(first, last, min(1.0, max(1e-300, chance * count))))
    return tuple(found)


def _around_medians(values: Floats, places: tuple[int, ...]) -> Floats:
    bounds = [0, *places, len(values)]
    apart = values.astype(np.float64)
    for first, last in pairwise(bounds):
        apart[first:last] -= np.median(values[first:last])
    return apart


def _far_runs(apart: Floats, share: float, rate: float) -> list[tuple[int, int]]:
    """Runs on one side of the level that may be spikes: far beyond what most values are."""
    sizes = np.abs(apart)
    # A spike's own values are among the farthest: half of them are looked past.
    usual = float(np.quantile(sizes, 1.0 - 2.0 * max(share, LONGEST_SPIKE / len(sizes))))
    least = usual * (share / rate) ** (1.0 / _TAIL_INDEX)
    far = np.flatnonzero((sizes > least) & (sizes > 0.0))
    runs: list[tuple[int, int]] = []
    for place in far.tolist():
        if runs and runs[-1][1] == place - 1 and apart[place] * apart[place - 1] > 0.0:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return [run for run in runs if run[1] - run[0] < LONGEST_SPIKE]
