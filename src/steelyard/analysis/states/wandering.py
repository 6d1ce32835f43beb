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
# By how much of the last error a forecast moves: from a walk of steps of a 50th of the noise on.
_FORECAST_SHARES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
_BEGINNING = 10
# Twice the logarithm of the odds from which evidence is positive: Kass and Raftery, JASA 90 (1995)
# 773. Forecasts that move little are nearly a level.
_POSITIVE_EVIDENCE = 2.0
# Of how many neighbours means are taken, and how many of these show what they remember.
_NEIGHBOURS = (4, 10, 20)
_FEWEST_MEANS = 25
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

    A walk under noise of its own (Muth, JASA 55 (1960) 299) remembers less: in place of the first
    two they hold for the means of 4, 10 or 20 neighbours, and by the same likelihood such a walk
    explains the values better than those levels do, and than one level.
    """
    mean = abs(float(values.mean()))
    distance, counter = (one / mean for one in _distances(values))
    if distance <= tolerance or counter <= _COUNTER_SHARE * tolerance:
        return None
    memory = _long_memory(values, changes)
    if memory is None and _hides_a_walk(values, changes):
        memory = _memory_around_a_line(values)
    return None if memory is None else Wandering(memory, distance)


def _long_memory(values: Floats, changes: Integers) -> float | None:
    """The memory, where it is long and explains the values no worse than the levels do."""
    memory = _memory_around_a_line(values)
    count = len(values)
    unbiased = memory + (2 + 4 * memory) / count
    walks = count * (memory - 1) > _LIMIT + _PER_COUNT / count
    if not walks and unbiased < _LONG_MEMORY:
        return None
    deviations = values - values.mean()
    alone = _cost(deviations[1:], deviations[:-1])
    return memory if alone <= _cost_of_levels(values, changes) else None


def _hides_a_walk(values: Floats, changes: Integers) -> bool:
    """Whether values walk under their own noise, which means of neighbours have less of."""
    for size in _NEIGHBOURS:
        if len(values) < size * _FEWEST_MEANS:
            return False
        whole = len(values) // size * size
        means = values[:whole].reshape(-1, size).mean(axis=1)
        between = np.unique(changes // size)
        inside = between[(between > 0) & (between < len(means))]
        if _long_memory(means, inside) is not None:
            of_levels = (_cost_of_levels(values, some) for some in (changes, changes[:0]))
            return _cost_of_a_hidden_walk(values) + _POSITIVE_EVIDENCE <= min(of_levels)
    return False


def _cost_of_a_hidden_walk(values: Floats) -> float:
    """That of a random walk under noise, with the price of their ratio.

    Its best forecast is the last one, moved towards the value that came by a share that the ratio
    gives: Muth, JASA 55 (1960) 299.
    """
    sequence = values.tolist()
    first = sum(sequence[:_BEGINNING]) / len(sequence[:_BEGINNING])
    costs: list[float] = []
    for share in _FORECAST_SHARES:
        forecast, squares = first, 0.0
        for value in sequence:
            error = value - forecast
            forecast += share * error
            squares += error * error
        costs.append(len(sequence) * log(squares / len(sequence) + _TINY))
    return min(costs) + log(len(sequence))


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
