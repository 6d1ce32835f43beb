"""The level of each segment of an execution, and whether it differs from the final one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.analysis.states.segment_cost import Integers
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.tables.data_columns import Floats

# From so many values on, as a rule of thumb, a mean is about normal whatever its values are. The
# start of a warm-up is shorter, and steep: its spread is no error of its mean. It is asked how
# likely such values are where values scatter as in the part that has to be steady.
_OWN_SPREAD_COUNT = 30
# Values that follow each other too closely to be more than this many times less informative
# than independent ones are a trend, which is another question.
_MOST_INFLATION = 50.0


@dataclass(frozen=True)
class Level:
    """A segment from `start` up to before `stop`: its mean, standard error and their degrees
    of freedom, both with regard to the dependence of the values on each other."""

    start: int
    stop: int
    mean: float
    error: float
    degrees: float

    @property
    def count(self) -> int:
        """How many iterations it has."""
        return self.stop - self.start


@dataclass(frozen=True)
class Differences:
    """The levels beside the final one.

    Parameters
    ----------
    log_ratios : array
        Of the mean of each level to that of the final one; 0 for itself.
    errors : array
        Standard errors of those.
    reaches : array
        Half-widths of their intervals.
    tolerance : float
        Relative difference up to which levels are equivalent.
    """

    log_ratios: Floats
    errors: Floats
    reaches: Floats
    tolerance: float

    def marks(self, log_ratios: Floats) -> NDArray[np.int64]:
        """How each level lies beside the final one: -2 faster, 2 slower, 0 within the tolerance,
        -1 and 1 beyond it, yet not surely.

        A level surely differs if the interval of its ratio to the final one lies wholly beyond
        the tolerance: Traini et al. (2023), section 3, by Kalibera and Jones's intervals of ratios.
        """
        slower, faster = log(1 + self.tolerance), log(1 - self.tolerance)
        sure = (log_ratios - self.reaches > slower) | (log_ratios + self.reaches < faster)
        beyond = (log_ratios > slower).astype(np.int64) - (log_ratios < faster).astype(np.int64)
        return beyond * (1 + sure)


def levels_of(
    values: Floats, places: Integers, changes: Sequence[int], iteration_count: int
) -> tuple[Level, ...]:
    """The levels between changes.

    Parameters
    ----------
    values : array
        Positive, without outliers.
    places : array
        The iteration of each value.
    changes : sequence of int
        Indices into `values`.
    iteration_count : int
        With the outliers.

    Notes
    -----
    A level too short to have a spread of its own takes that of the values of the part that has
    to be steady. The standard error takes as many values as independent ones would be as
    informative: ``n (1 - r) / (1 + r)`` with r the autocorrelation of lag 1 around a level, as
    for a process that remembers its last value (Box, Jenkins and Reinsel, section 2.1).
    """
    bounds = [0, *changes, len(values)]
    pieces = [values[a:b] for a, b in pairwise(bounds)]
    means = [float(piece.mean()) for piece in pieces]
    inflation = _inflation(pieces, means)
    final = values[int(np.searchsorted(places, latest_start(iteration_count))) :]
    spread = float(final.std(ddof=1))
    found: list[Level] = []
    begins = [0, *(int(places[change]) for change in changes), iteration_count]
    for start, stop, piece, mean in zip(begins, begins[1:], pieces, means, strict=False):
        count = len(piece)
        informative = max(2.0, count / inflation)
        own = count >= _OWN_SPREAD_COUNT
        if own:
            spread_here = sqrt(float(np.square(piece - mean).sum()) / max(1, count - 1))
        else:
            spread_here = spread
        degrees = informative - 1 if own else max(1.0, len(final) / inflation - 1)
        error = spread_here / sqrt(max(1.0, count / inflation))
        found.append(Level(start, stop, mean, error, degrees))
    return tuple(found)


def _inflation(pieces: Sequence[Floats], means: Sequence[float]) -> float:
    """How many times less informative the values are than independent ones.

    By the autocorrelation of the median value's segment, so that no single one decides.
    """
    found: list[tuple[float, int]] = []
    for piece, mean in zip(pieces, means, strict=True):
        deviations = piece - mean
        squares = float(deviations @ deviations)
        if len(piece) >= _OWN_SPREAD_COUNT and squares > 0:
            found.append((float(deviations[1:] @ deviations[:-1]) / squares, len(piece)))
    if not found:
        return 1.0
    found.sort()
    counts = np.cumsum(np.array([count for _, count in found], dtype=np.int64))
    r = found[int(np.searchsorted(counts, int(counts[-1]) / 2))][0]
    return min(_MOST_INFLATION, max(1.0, (1 + r) / max(1e-9, 1 - r)))


def relative_reach(values: Floats, confidence: float) -> float:
    """The half-width of the interval of the mean of all `values`, relative to it."""
    mean = float(values.mean())
    inflation = _inflation([values], [mean])
    informative = max(2.0, len(values) / inflation)
    error = float(values.std(ddof=1)) / sqrt(informative)
    return student_quantile(two_sided(confidence), informative - 1) * error / mean


def final_level(levels: Sequence[Level], latest: int) -> int:
    """The index of the level in which the median iteration from `latest` on lies."""
    inside = [i for i, level in enumerate(levels) if level.stop > latest]
    inside.sort(key=lambda index: levels[index].mean)
    counts = [levels[i].stop - max(latest, levels[i].start) for i in inside]
    return inside[int(np.searchsorted(np.cumsum(counts), sum(counts) / 2))]


def differences(
    levels: Sequence[Level], final: int, tolerance: float, confidence: float
) -> Differences:
    """The ratios of the levels to that with the index `final`, with their errors (first order);
    the intervals hold together (Bonferroni)."""
    last = levels[final]
    relative = [level.error / level.mean for level in levels]
    errors = [sqrt(r * r + relative[final] * relative[final]) for r in relative]
    share = two_sided(1 - (1 - confidence) / max(1, len(levels) - 1))
    reaches = [
        student_quantile(share, _degrees(level, last)) * error
        for level, error in zip(levels, errors, strict=True)
    ]
    ratios = np.array([log(level.mean / last.mean) for level in levels])
    errors[final] = reaches[final] = 0.0
    return Differences(ratios, np.array(errors), np.array(reaches), tolerance)


def _degrees(level: Level, final: Level) -> float:
    """Welch and Satterthwaite's degrees of freedom of the difference, of relative errors."""
    a, b = (level.error / level.mean) ** 2, (final.error / final.mean) ** 2
    if a + b <= 0:
        return min(level.degrees, final.degrees)
    return max(1.0, (a + b) ** 2 / (a * a / level.degrees + b * b / final.degrees))
