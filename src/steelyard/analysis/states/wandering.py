"""Whether values wander like a random walk, so that their levels are the paths of chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from steelyard.analysis.states.segment_cost import Integers
from steelyard.analysis.tables.data_columns import Floats

# Fuller, Introduction to Statistical Time Series (1976), Table 8.5.1, with constant and trend:
# below this, 1 % of random walks have n (r - 1). 25.8 for 50 values and 27.4 for 100 follow it.
_LIMIT, _PER_COUNT = -29.5, 200.0
# From here on 39 values say as much as one that is independent: 3,000 iterations as 77.
_LONG_MEMORY = 0.95
# Stretches whose means show how far the values wander; as many as make a mean about normal.
_STRETCHES = 30
_SHORTEST = 10
# Parameters of a level: its mean and its place.
_PER_LEVEL = 2
# A trend, or the tail of a start-up, goes one way; what comes back of it is noise, and less than
# this share of the tolerance.
_COUNTER_SHARE = 0.25
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Wandering:
    """Values without a level.

    Parameters
    ----------
    memory : float
        Correlation from one iteration to the next, around a line through all.
    distance : float
        How far the means of stretches lie apart, relative to the mean.
    """

    memory: float
    distance: float


def wandering(values: Floats, changes: Integers, tolerance: float) -> Wandering | None:
    """How the values wander; None where they do not, or where levels explain them better.

    Parameters
    ----------
    values : array
        In order, without outliers.
    changes : array
        The places at which levels were found to change.
    tolerance : float
        Wandering matters if the means of stretches differ by more than this share of the mean.

    Notes
    -----
    Three things have to hold.

    1. The memory is long: a random walk around a line is not refuted at 1 % (Dickey and Fuller,
       JASA 74 (1979) 427, by n (r - 1)), or r, without its bias (Kendall, Biometrika 41 (1954)
       403), is 0.95 or more.
    2. The likelihood, less log n / 2 for each parameter (Schwarz, Annals of Statistics 6 (1978)
       461), is not larger for levels around which values remember the last one than for a memory
       alone. Change points and memory explain each other (Perron, Econometrica 57
       (1989) 1361); only the comparison of both tells them apart.
    3. It matters, and it is no trend: the means of stretches rise and fall again.
    """
    mean = abs(float(values.mean()))
    distance, counter = (one / mean for one in _distances(values))
    if distance <= tolerance or counter <= _COUNTER_SHARE * tolerance:
        return None
    memory = _memory_around_a_line(values)
    count = len(values)
    unbiased = memory + (2 + 4 * memory) / count
    walks = count * (memory - 1) > _LIMIT + _PER_COUNT / count
    if not walks and unbiased < _LONG_MEMORY:
        return None
    deviations = values - values.mean()
    alone = _cost(deviations[1:], deviations[:-1])
    return Wandering(memory, distance) if alone <= _cost_of_levels(values, changes) else None


def _distances(values: Floats) -> tuple[float, float]:
    """How far the means of stretches lie apart, and by how much they both rise and fall."""
    stretches = np.array_split(values, max(2, min(_STRETCHES, len(values) // _SHORTEST)))
    means = np.array([stretch.mean() for stretch in stretches])
    rise = float((means - np.minimum.accumulate(means)).max())
    fall = float((np.maximum.accumulate(means) - means).max())
    return max(rise, fall), min(rise, fall)


def _memory_around_a_line(values: Floats) -> float:
    count = len(values) - 1
    order = np.arange(count) - (count - 1) / 2
    order /= np.sqrt(order @ order)
    later, earlier = (part - part.mean() for part in (values[1:], values[:-1]))
    later, earlier = later - (later @ order) * order, earlier - (earlier @ order) * order
    squares = float(earlier @ earlier)
    return float(later @ earlier) / squares if squares > 0 else 0.0


def _cost(later: Floats, earlier: Floats) -> float:
    """Twice the negative log-likelihood of values that remember the last one, up to a constant."""
    squares = float(earlier @ earlier)
    memory = float(later @ earlier) / squares if squares > 0 else 0.0
    left = later - memory * earlier
    return len(later) * log(float(left @ left) / len(later) + _TINY)


def _cost_of_levels(values: Floats, changes: Integers) -> float:
    """That of values that remember, around levels, with the price of the levels."""
    bounds = np.concatenate([[0], changes, [len(values)]]).astype(np.int64)
    counts = np.diff(bounds)
    means = np.add.reduceat(values, bounds[:-1]) / counts
    deviations = values - np.repeat(means, counts)
    # Across a change the memory is of the last level, and that is a deviation like any other.
    return _cost(deviations[1:], deviations[:-1]) + _PER_LEVEL * log(len(values)) * len(changes)
