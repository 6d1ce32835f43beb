"""Segments of one level each, and how plain the change between two neighbours is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_two_sided_p_values
from steelyard.analysis.history.level_scan import SHORTEST_SEGMENT, SHORTEST_SIDE
from steelyard.analysis.history.noise_scale import NoiseScale
from steelyard.analysis.history.series import Floats
from steelyard.analysis.history.where_it_began import best_split

_MOVES = 2
# Of a long segment, what lies near its change says how plain the change is.
_LONGEST_SIDE = 400
# Segments of few values borrow the noise of the track, as if it were so many more values.
_BORROWED = 10.0


@dataclass(frozen=True)
class Segments:
    """The division of a series.

    Parameters
    ----------
    places : tuple of int
        Where each segment but the first begins.
    p_values : array
        For each place, of the two segments beside it having one mean.
    """

    places: tuple[int, ...]
    p_values: Floats


@dataclass(frozen=True)
class Plainness:
    """What it takes for a place to stay.

    Parameters
    ----------
    p_value : float
        The largest.
    deviations : float
        How far apart the means beside it are at least, in standard deviations of the values.
    """

    p_value: float
    deviations: float = 0.0


def settle_segments(
    values: Floats,
    places: list[int],
    noise: NoiseScale,
    asked: Plainness,
    spreads: Floats | None = None,
) -> Segments:
    """The places that stay, each moved to where two levels fit best.

    Parameters
    ----------
    values : array
        Without spikes.
    places : list of int
        Candidates in order.
    noise : NoiseScale
    asked : Plainness
        What stays. The least plain place goes first.
    spreads : array, optional
        The deviation around each value, where it is not the track's everywhere.
    """
    kept = _moved(values, places)
    while kept:
        p_values = p_of_places(values, kept, noise, asked.deviations, spreads)
        worst = int(np.argmax(p_values))
        if p_values[worst] <= asked.p_value:
            moved = _moved(values, kept)
            if moved == kept:
                return Segments(tuple(kept), p_values)
            kept = moved
            p_values = p_of_places(values, kept, noise, asked.deviations, spreads)
            worst = int(np.argmax(p_values))
            if p_values[worst] <= asked.p_value:
                return Segments(tuple(kept), p_values)
        kept = kept[:worst] + kept[worst + 1 :]
    return Segments((), np.zeros(0))


def p_of_places(
    values: Floats,
    places: list[int],
    noise: NoiseScale,
    least: float,
    spreads: Floats | None = None,
) -> Floats:
    """For each place the p-value of Welch's t between the segments beside it; 1 where their means
    are less than `least` standard deviations of their values apart.

    Notes
    -----
    The variance of each mean has the factor of the track's memory. A segment's own variance is
    weighed with that of the track, which counts as `_BORROWED` values, so that five values that
    happen to lie close together do not make a change plain.
    """
    bounds = [0, *places, len(values)]
    statistics, degrees = np.empty(len(places)), np.empty(len(places))
    usual = noise.deviation**2
    for at, place in enumerate(places):
        means: list[float] = []
        squares: list[float] = []
        variances: list[float] = []
        freedom: list[float] = []
        for inside in (
            slice(max(bounds[at], place - _LONGEST_SIDE), place),
            slice(place, min(bounds[at + 2], place + _LONGEST_SIDE)),
        ):
            side = values[inside]
            if spreads is not None:
                usual = float(np.square(spreads[inside]).mean())
            size = len(side)
            mean = float(side.mean())
            around = side - mean
            own = (float(around @ around) + _BORROWED * usual) / (size - 1 + _BORROWED)
            factor = float(noise.mean_factor(np.array([float(size)]))[0])
            means.append(mean)
            variances.append(own)
            squares.append(own * factor / size)
            freedom.append(max(2.0, (size + _BORROWED) / factor - 1.0))
        total = squares[0] + squares[1]
        apart = means[1] - means[0]
        small = apart * apart < least * least * (variances[0] + variances[1]) / 2.0
        statistics[at] = 0.0 if small else apart / total**0.5
        degrees[at] = total**2 / (squares[0] ** 2 / freedom[0] + squares[1] ** 2 / freedom[1])
    return t_two_sided_p_values(statistics, degrees)


def _moved(values: Floats, places: list[int]) -> list[int]:
    """The places, each where two levels fit the values between its neighbours best."""
    bounds = [0, *sorted(places), len(values)]
    for _ in range(_MOVES):
        before = list(bounds)
        for at in range(1, len(bounds) - 1):
            first = max(bounds[at - 1], bounds[at] - _LONGEST_SIDE)
            last = min(bounds[at + 1], bounds[at] + _LONGEST_SIDE)
            near = values[first:last]
            short = SHORTEST_SEGMENT if len(near) > 2 * SHORTEST_SEGMENT else 1
            # At the ends of a series a level may only have begun, or have been cut off.
            left = min(short, SHORTEST_SIDE) if first == 0 else short
            right = min(short, SHORTEST_SIDE) if last == len(values) else short
            bounds[at] = first + best_split(near, left, len(near) - right)
        if bounds == before:
            break
    return sorted({place for place in bounds[1:-1] if 0 < place < len(values)})
