"""How probable it is that a careful reader would call the end of an execution not steady."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log2

import numpy as np

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.analysis.states.change_points import (
    PENALTY_FACTOR,
    PENALTY_FACTORS,
    ChangePath,
    Changes,
)
from steelyard.analysis.states.segment_cost import Integers
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.tables.data_columns import Floats

# Logistic regression on the 480 executions of 48 benchmarks whose published opinion is known
# (`python -m benchmarks.states.calibration` prints these, and what they are worth on benchmarks
# left out): intercept, per doubling of the strength, per doubling of the knee, for doubt.
WEIGHTS = (-1.074, 1.257, -1.409, 1.734)
# A change that is worth 60 log n is plain, however much others are worth. Of the 480 those with a
# later knee are judged as well with this one, and few changes that are all plain have a late knee.
_LATEST_KNEE = 4 * PENALTY_FACTOR
# Of the 454 executions 73 have a probability below this on either side, too few to say more of them
# than how many are judged as published, on benchmarks left out (same command): so many.
SURE_FROM, LESS_SURE = 0.9, 0.78
# Traini et al. (2023), section 3.3: intervals of 95 %.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Unsteadiness:
    """How plain it is that the level still changes in the part that has to be steady.

    Parameters
    ----------
    strength : float
        The largest penalty, as a multiple of log n, at which change points leave a segment that
        ends in that part and surely differs from the last one; half the least penalty if none does.
    knee : float
        The penalty, in the same unit, at the knee of this execution's count of changes: what a
        change must be worth here to stand out from the others.
    doubt : float
        The share of redraws of the levels at the usual penalty in which no state lasts long enough.
    """

    strength: float
    knee: float
    doubt: float

    @property
    def scores(self) -> tuple[float, float, float]:
        """Doublings of the usual penalty up to the strength and to the knee, and the doubt."""
        knee = min(self.knee, _LATEST_KNEE)
        return log2(self.strength / PENALTY_FACTOR), log2(knee / PENALTY_FACTOR), self.doubt

    @property
    def probability(self) -> float:
        """Of being judged not steady."""
        intercept, *weights = WEIGHTS
        logit = intercept + sum(w * s for w, s in zip(weights, self.scores, strict=True))
        return 1 / (1 + exp(-logit))


def stated_confidence(probability: float) -> float:
    """What a class is said to be right with: its probability, where that is large enough for it to
    be checked, else how often such classes are right.

    Notes
    -----
    Binning by as many examples as a bin's rate needs: Zadrozny and Elkan, ICML 2001.
    """
    return probability if probability >= SURE_FROM else LESS_SURE


def unsteadiness(
    values: Floats, places: Integers, path: ChangePath, tolerance: float, doubt: float
) -> Unsteadiness:
    """The unsteadiness of an execution.

    Parameters
    ----------
    values : array
        All iterations, in order.
    places : array
        Those among which `path` has changes.
    tolerance : float
        A segment differs if the 95 % interval of its mean's ratio to that of the last segment lies
        wholly beyond this relative difference.
    doubt : float
        As of `Unsteadiness`.

    Notes
    -----
    The question asked at each penalty is that of Traini et al. (2023), section 3.3, and of their
    replication package: is there, going back from the end, a segment that differs from the last
    one, and does it end in the last sixth? They take one penalty, at the knee of the count of
    changes. The values of a segment are taken for independent, as there; so a short segment can
    differ, and a memory of the values is not allowed for: both are left to the calibration.
    """
    quantile = normal_quantile(two_sided(_CONFIDENCE))
    latest = latest_start(len(values))
    strength = PENALTY_FACTORS[0] / 2
    asked: dict[Changes, bool] = {}
    for factor, changes in zip(reversed(PENALTY_FACTORS), reversed(path.changes), strict=True):
        if changes not in asked:
            bounds = np.concatenate([[0], places[list(changes)], [len(values)]]).astype(np.int64)
            asked[changes] = _last_difference(values, bounds, tolerance, quantile) > latest
        if asked[changes]:
            strength = factor
            break
    return Unsteadiness(strength, path.knee, doubt)


def _last_difference(values: Floats, bounds: Integers, tolerance: float, quantile: float) -> int:
    """Where the last segment ends that surely differs from the final one; 0 without such."""
    counts = np.diff(bounds)
    means = np.add.reduceat(values, bounds[:-1]) / counts
    deviations = values - np.repeat(means, counts)
    squares = np.add.reduceat(deviations * deviations, bounds[:-1]) / counts
    relative = squares / counts / np.square(means)
    ratios = means / means[-1]
    reaches = quantile * ratios * np.sqrt(relative + relative[-1])
    differs = (ratios - reaches >= 1 + tolerance) | (ratios + reaches <= 1 - tolerance)
    found = np.flatnonzero(differs[:-1])
    return int(bounds[found[-1] + 1]) if len(found) else 0
