"""Pairs of steps that are one spike: a level that lasts for a few values, and is taken back."""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from steelyard.analysis.history.level_segments import LONGEST_SIDE, Segments
from steelyard.analysis.history.series import Floats
from steelyard.analysis.history.spikes import LONGEST_SPIKE, Spike

# Levels have five values at least, so that a shorter one lies somewhere within one.
_LONGEST_LEVEL = LONGEST_SPIKE + 2
_LEAST_SQUARES = 1e-300


class TakenBack(NamedTuple):
    """The levels that stay, and the spikes that others are."""

    levels: Segments
    spikes: tuple[Spike, ...]


def spikes_for_steps(values: Floats, levels: Segments) -> TakenBack:
    """Spikes in place of pairs of steps that they explain better.

    Parameters
    ----------
    values : array
    levels : Segments

    Notes
    -----
    A short level between two steps in opposite directions is fitted as three levels, and as one
    with up to four values apart from it, which takes one number less; the one with the smaller
    criterion of Schwarz (Annals of Statistics 6 (1978) 461) is believed. The p-value of the spike
    is that of the less plain step.
    """
    places = levels.places
    bounds = [0, *places, len(values)]
    gone: set[int] = set()
    spikes: list[Spike] = []
    for number, (first, last) in enumerate(pairwise(places)):
        if last - first > _LONGEST_LEVEL or number in gone:
            continue
        begin = max(bounds[number], first - LONGEST_SIDE)
        end = min(bounds[number + 3], last + LONGEST_SIDE)
        run = _better_run(values[begin:end], first - begin, last - begin)
        if run is not None:
            gone.update((number, number + 1))
            p_value = float(levels.p_values[number : number + 2].max())
            in_series = min(1.0, max(p_value, 1e-300) * len(values))
            spikes.append(Spike(begin + run[0], begin + run[1], in_series))
    if not gone:
        return TakenBack(levels, ())
    kept = [number for number in range(len(places)) if number not in gone]
    rest = Segments(
        tuple(places[number] for number in kept), levels.p_values[kept], levels.deviations[kept]
    )
    return TakenBack(rest, tuple(spikes))


def _better_run(near: Floats, first: int, last: int) -> tuple[int, int] | None:
    """The first and the last of the values that are a spike; None where three levels fit better."""
    middle = float(near[first:last].mean())
    if (middle - float(near[:first].mean())) * (middle - float(near[last:].mean())) <= 0.0:
        return None
    count = len(near)
    centred = near - near.mean()
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    total = float(centred @ centred)

    def explained(begin: int, end: int) -> float:
        return float(sums[end] - sums[begin]) ** 2 / (end - begin)

    stairs = total - explained(0, first) - explained(first, last) - explained(last, count)
    runs = [
        (begin, end)
        for begin in range(max(1, first - 1), last)
        for end in range(begin + 1, min(begin + LONGEST_SPIKE, last + 1, count - 1) + 1)
    ]
    # The values apart and all others are two levels, whose sums are each other's opposite.
    gains = [explained(*run) * count / (count - (run[1] - run[0])) for run in runs]
    best = int(np.argmax(gains))
    by_run = count * log(max(0.0, total - gains[best]) + _LEAST_SQUARES)
    if by_run >= count * log(max(0.0, stairs) + _LEAST_SQUARES) + log(count):
        return None
    return runs[best][0], runs[best][1] - 1
