"""How far values lie apart, and by what ratio a change of setup alters that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
SPREAD_METHOD = "jackknife-log"
_FEWEST = 5


def spread_of(values: Floats) -> float:
    """The mean distance from the median, relative to the median.

    It is what Levene's test with medians compares (Brown and Forsythe, J. Amer. Statist. Assoc.
    69 (1974) 364), of values that are relative to their own middle.
    """
    middle = float(np.median(values))
    return float(np.abs(values - middle).mean() / abs(middle)) if middle else 0.0


def spread_ratio(
    baseline: Floats, candidate: Floats, confidence: float, *, paired: bool
) -> Interval:
    """Candidate / baseline of the spread.

    Parameters
    ----------
    baseline, candidate : array
        In the order of their blocks where they are `paired`.
    paired : bool
        Values at the same place are of the same block.

    Notes
    -----
    The jackknife of the logarithm with Student's quantile (Miller, Biometrika 61 (1974) 1; Miller,
    Ann. Math. Statist. 39 (1968) 567 for variances, of which it keeps the level where values are
    not normal). A block goes as a whole where they are paired.
    """
    if min(len(baseline), len(candidate)) < _FEWEST:
        return _none("too-few-values", f"Each setup needs {_FEWEST} values or more.", confidence)
    below, above = spread_of(baseline), spread_of(candidate)
    if not below or not above:
        return _none("no-spread", "The values of a setup are all alike.", confidence)
    centre = float(np.log(above / below))
    upper, lower = _pseudo_values(candidate), _pseudo_values(baseline)
    if upper is None or lower is None:
        return _none("no-spread", "All but one of the values are alike.", confidence)
    if paired:
        error = float(np.sqrt((upper - lower).var(ddof=1) / len(upper)))
        degrees = len(upper) - 1
    else:
        error = float(np.sqrt(upper.var(ddof=1) / len(upper) + lower.var(ddof=1) / len(lower)))
        degrees = min(len(upper), len(lower)) - 1
    reach = student_quantile(two_sided(confidence), float(degrees)) * error
    low, high = np.exp([centre - reach, centre + reach])
    return Estimate(float(np.exp(centre)), float(low), float(high), confidence, SPREAD_METHOD)


def _pseudo_values(values: Floats) -> Floats | None:
    """Of the logarithm of the spread; None where it is 0 without one of the values."""
    count = len(values)
    without = np.array([spread_of(np.delete(values, place)) for place in range(count)])
    if not without.all():
        return None
    return count * np.log(spread_of(values)) - (count - 1) * np.log(without)


def _none(reason: str, explanation: str, confidence: float) -> Unbounded:
    return Unbounded(None, confidence, SPREAD_METHOD, reason, explanation)
