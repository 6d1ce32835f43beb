"""The modes of values: how many humps a distribution must have, and where they are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, sqrt

from steelyard.analysis.distributions.sorted_values import sorted_values

# Fewer values show no second mode at this level of significance but by two lumps of alike size.
FEWEST_VALUES = 10
# Of more values every k-th in order of size is taken.
MOST_VALUES = 2000
# The dip that 1 % of samples of a uniform distribution exceed, times the root of their number, by
# the number (Hartigan and Hartigan 1985, table 1, as R's diptest has it from a million samples).
_CRITICAL = (
    (10, 0.5050), (20, 0.5394), (50, 0.5742), (100, 0.5902), (200, 0.6037), (500, 0.6138),
    (1000, 0.6201), (2000, 0.6246),
)  # fmt: skip
# Values that are whole multiples of a step up to this share of it are those of a clock that ticks.
_LATTICE = 1e-6
# Values that are alike lie within this share of the range, so that their density is a number.
_ATOM = 1e-9
# Below this share of the values a lump is a few outliers rather than a mode.
_SMALLEST_SHARE = 0.05
# Tails may end so many ranges of the values beyond them.
_FAR = 1e4
# Silverman, Density Estimation (1986), equation 3.31.
_SILVERMAN = 0.9
_NORMAL_QUARTILES = 1.34
_NARROWEST = 0.01


@dataclass(frozen=True)
class Mode:
    """One hump.

    Parameters
    ----------
    place : float
        The median of the values in it.
    share : float
        Of all values, those that are nearer to its hump than the valleys beside it.
    low, high : float
        The smallest and the largest of its values.
    """

    place: float
    share: float
    low: float
    high: float


def modes_of(values: Sequence[float]) -> tuple[Mode, ...]:
    """The modes that the distribution behind values must have, from the lowest to the highest.

    Parameters
    ----------
    values : sequence of float
        Finite, in any order.

    Returns
    -------
    tuple of Mode
        One where nothing speaks for more; none below `FEWEST_VALUES`, or where all are alike.

    Notes
    -----
    Among all distribution functions within a distance d of the empirical one, the taut string has
    the fewest modes (Davies and Kovac, Annals of Statistics 32 (2004) 1093); that there is none
    with one mode is Hartigan and Hartigan's dip test (Annals of Statistics 13 (1985) 70). d is
    such that in 1 % of samples of a uniform distribution there would be more than one; of other
    distributions with one mode it is less. Values that a clock rounds are spread over its ticks.
    """
    count = len(values)
    if count < FEWEST_VALUES:
        return ()
    in_order = sorted_values(values)
    if in_order[0] == in_order[-1]:
        return ()
    kept = _spread(in_order[:: -(-count // MOST_VALUES)])
    valleys = _valleys(kept, critical_distance(len(kept)))
    bounds = [0, *(bisect_left(in_order, valley) for valley in valleys), count]
    parts = [in_order[a:b] for a, b in pairwise(bounds)]
    large = [part for part in parts if len(part) >= _SMALLEST_SHARE * count]
    if len(large) < 2:
        large = [in_order]
    return tuple(Mode(_median(p), len(p) / count, p[0], p[-1]) for p in large)


def _median(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def density_bandwidth(values: Sequence[float]) -> float | None:
    """The bandwidth of a kernel density that does not smooth the modes of values away.

    None where nothing varies. Silverman's rule, ``0.9 min(s, IQR / 1.34) / n^(1/5)``, with the
    spread inside each mode (by their shares): of values with one mode that is the usual one.
    """
    count = len(values)
    if count < 2:
        return None
    modes = modes_of(values)
    ordered = sorted(values)
    parts = [ordered]
    if len(modes) > 1:
        cuts = [bisect_left(ordered, mode.low) for mode in modes[1:]]
        parts = [ordered[a:b] for a, b in pairwise([0, *cuts, count])]
    spread = sum(len(part) * _spread_of(part) for part in parts) / count
    # Lumps of values that are all alike still have a width on paper.
    spread = max(spread, _NARROWEST * (ordered[-1] - ordered[0]))
    return _SILVERMAN * spread * count**-0.2 or None


def _spread_of(ordered: Sequence[float]) -> float:
    """The smaller one of the standard deviation and that of normal values with these quartiles."""
    count = len(ordered)
    if count < 2:
        return 0.0
    mean = fsum(ordered) / count
    deviation = sqrt(fsum((value - mean) ** 2 for value in ordered) / (count - 1))
    quartiles = ordered[(3 * (count - 1)) // 4] - ordered[(count - 1) // 4]
    return min(deviation, quartiles / _NORMAL_QUARTILES) if quartiles > 0 else deviation


def critical_distance(count: int) -> float:
    """Half the width of the tube for so many values, interpolated in the table."""
    table = _CRITICAL
    place = max(1, bisect_left([size for size, _ in table], count))
    (below, left), (above, right) = table[min(place, len(table) - 1) - 1 :][:2]
    share = (1 / sqrt(count) - 1 / sqrt(below)) / (1 / sqrt(above) - 1 / sqrt(below))
    share = min(1.0, max(0.0, share))
    return (left + share * (right - left)) / sqrt(count)


def _spread(ordered: Sequence[float]) -> list[float]:
    """Values of a clock that ticks evenly over its ticks; others that are alike a little apart."""
    gaps = [b - a for a, b in pairwise(ordered) if b > a]
    step = min(gaps)
    lattice = all(abs(v / step - round(v / step)) <= _LATTICE for v in ordered)
    width = step if lattice else min(step, _ATOM * (ordered[-1] - ordered[0]))
    found: list[float] = []
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end] == ordered[start]:
            end += 1
        alike = end - start
        found += [ordered[start] + width * ((k + 0.5) / alike - 0.5) for k in range(alike)]
        start = end
    return found


def _valleys(x: Sequence[float], distance: float) -> list[float]:
    """Where the density of the taut string is lowest between its local maxima."""
    knots = _taut_string(x, distance)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(knots)]
    valleys: list[float] = []
    falling_since: int | None = None
    for place in range(1, len(slopes)):
        if slopes[place] < slopes[place - 1]:
            falling_since = place
        elif slopes[place] > slopes[place - 1] and falling_since is not None:
            valleys.append((knots[falling_since][0] + knots[place][0]) / 2)
            falling_since = None
    return valleys


def _taut_string(x: Sequence[float], distance: float) -> list[tuple[float, float]]:
    """The knots of the shortest line through the tube around the empirical distribution.

    Parameters
    ----------
    x : sequence of float
        Ascending, no two alike.
    distance : float
        Half the width of the tube.
    """
    count = len(x)
    far = _FAR * (x[-1] - x[0])
    # A share of the distribution up to the distance may lie anywhere beyond the values.
    x = [x[0] - far, *x, x[-1] + far]
    low = [0.0, *(max(0.0, (i + 1) / count - distance) for i in range(count)), 1.0]
    high = [0.0, *(min(1.0, i / count + distance) for i in range(count)), 1.0]
    end = count + 1
    count = len(x)
    apex, height = 0, 0.0
    knots = [(x[0], 0.0)]
    while apex < end:
        steepest, flattest = float("inf"), float("-inf")
        upper = lower = apex
        for place in range(apex + 1, count):
            way = x[place] - x[apex]
            least, most = (low[place] - height) / way, (high[place] - height) / way
            if least > steepest:
                apex, height = upper, high[upper]
                break
            if most < flattest:
                apex, height = lower, low[lower]
                break
            if most <= steepest:
                steepest, upper = most, place
            if least >= flattest:
                flattest, lower = least, place
        else:
            apex, height = end, 1.0
        knots.append((x[apex], height))
    return knots
