"""Levels inside a state that are too short for change points, yet not for a mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.states.final_state import EXCURSION_SHARE
from steelyard.analysis.tables.data_columns import Floats

# Lengths of stretches: this one, and doubled as long as the stretches, side by side, are so many
# that a quarter of them is more than one.
_SHORTEST = 5
_FEWEST_STRETCHES = 6
# Values that have no order vary more than all of these with probability 1 / (99 + 1).
_SHUFFLES = 99
# Tukey, Exploratory Data Analysis (1977): what lies beyond these fences is single values.
_FENCE = 1.5


@dataclass(frozen=True)
class LocalLevels:
    """How the means of stretches lie around their median.

    Parameters
    ----------
    length : int
        Values in a stretch.
    distance : float
        Relative to the mean, without what noise adds: a quarter of the stretches lie further from
        the median.
    """

    length: int
    distance: float


def local_levels(
    values: Floats, tolerance: float, generator: np.random.Generator
) -> LocalLevels | None:
    """The stretches that show that `values` hold no level; None where none do.

    Parameters
    ----------
    values : array
        Of a state, in order, without the disturbances that it is granted.
    tolerance : float
        Relative difference up to which levels are equivalent.

    Notes
    -----
    A state is granted that a quarter of it differs. So a length of stretches counts if a quarter
    of them lie further from their median than the tolerance, squared distances less what they are
    on average in shuffles, as variances add up; and if this distance, over its average, is larger
    than the largest of any length in each of 99 shuffles. That is a test by permutation (Pitman,
    JRSS Supplement 4 (1937) 119): in values that come in no order, of any distribution, it finds
    such stretches with probability 1 % at most, for all lengths together. Noise that remembers is
    told from levels by the tolerance alone.

    Values beyond Tukey's fences are set to them: a stretch with one slow value is no level.
    """
    if len(values) < _SHORTEST * _FEWEST_STRETCHES:
        return None
    lower, upper = np.quantile(values, (0.25, 0.75))
    reach = _FENCE * (upper - lower)
    kept = np.clip(values, lower - reach, upper + reach)
    lengths = _lengths(len(kept))
    mean = abs(float(kept.mean()))
    found = _distances(kept[None, :], lengths)[0]
    if not (found > tolerance * mean).any():
        return None
    # The values stand among their shuffles in all that is asked of both, so that the test is exact.
    rows = np.concatenate([kept[None, :], np.tile(kept, (_SHUFFLES, 1))])
    generator.permuted(rows[1:], axis=1, out=rows[1:])
    distances = _distances(rows, lengths)
    ratios = distances / np.maximum(distances.mean(axis=0), np.finfo(np.float64).tiny)
    chance = np.square(distances[1:]).mean(axis=0)
    true = np.sqrt(np.maximum(0.0, np.square(found) - chance))
    counts = (ratios[0] > ratios[1:].max()) & (true > tolerance * mean)
    if not counts.any():
        return None
    best = int(np.argmax(np.where(counts, true, 0.0)))
    return LocalLevels(lengths[best], float(true[best]) / mean)


def _lengths(count: int) -> list[int]:
    found = [_SHORTEST]
    while 2 * found[-1] * _FEWEST_STRETCHES <= count:
        found.append(2 * found[-1])
    return found


def _distances(rows: Floats, lengths: Sequence[int]) -> Floats:
    """For each row and length: how far from their median the outer quarter of the stretches
    begins. They overlap, by four fifths."""
    sums = np.zeros((len(rows), rows.shape[1] + 1))
    np.cumsum(rows, axis=1, out=sums[:, 1:])
    found = np.empty((len(rows), len(lengths)))
    for place, length in enumerate(lengths):
        step = length // _SHORTEST
        means = (sums[:, length::step] - sums[:, :-length:step]) / length
        count = means.shape[1]
        middle = np.partition(means, count // 2, axis=1)[:, count // 2]
        far = np.abs(means - middle[:, None])
        outer = count - 1 - int(EXCURSION_SHARE * count)
        found[:, place] = np.partition(far, outer, axis=1)[:, outer]
    return found
