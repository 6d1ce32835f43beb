"""Shapiro and Wilk's test of normality."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import asin, erfc, exp, fsum, log, pi, sqrt

from steelyard.analysis.comparison.comparison_results import NormalityTest
from steelyard.analysis.distributions.normal import normal_quantile

# P. Royston, Remark AS R94: a remark on algorithm AS 181: the W-test for normality,
# Applied Statistics 44 (1995) 547-551: its polynomials, and the range it is valid for.
SMALLEST_COUNT = 3
LARGEST_COUNT = 5000
_FIRST_WEIGHT = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)
_SECOND_WEIGHT = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
_SMALL_MEAN = (0.544, -0.39978, 0.025054, -6.714e-4)
_SMALL_DEVIATION = (1.3822, -0.77857, 0.062767, -0.0020322)
_LARGE_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)
_LARGE_DEVIATION = (-0.4803, -0.082676, 0.0030302)
_SMALL_UP_TO = 11
_SMALL_SHIFT = (-2.273, 0.459)


def shapiro_wilk(values: Sequence[float]) -> NormalityTest | None:
    """Whether the values look like a normal sample.

    Parameters
    ----------
    values : sequence of float
        In any order. Of more than 5000, for which the test is not tabulated, 5000 that are
        evenly spaced in the given order are tested.

    Returns
    -------
    NormalityTest or None
        None for fewer than 3 values, or when all are alike.

    Notes
    -----
    Royston's AS R94 (Applied Statistics 44 (1995) 547), the algorithm of R's ``shapiro.test``.
    """
    count = len(values)
    if count < SMALLEST_COUNT:
        return None
    if count > LARGEST_COUNT:
        values = [values[i * count // LARGEST_COUNT] for i in range(LARGEST_COUNT)]
        count = LARGEST_COUNT
    ordered = sorted(values)
    spread = ordered[-1] - ordered[0]
    if not spread > abs(ordered[-1]) * 1e-14:
        return None
    scaled = [(value - ordered[0]) / spread for value in ordered]
    mean = fsum(scaled) / count
    squares = fsum((value - mean) ** 2 for value in scaled)
    weights = _weights(count)
    # fsum pairs the smallest with the largest value, and so on inwards.
    slope = fsum(w * (scaled[-1 - i] - scaled[i]) for i, w in enumerate(weights))
    length = 2.0 * fsum(w * w for w in weights)
    root = sqrt(length * squares)
    complement = max(0.0, (root - slope) * (root + slope) / (length * squares))
    return NormalityTest(1.0 - complement, _p_value(complement, count))


@lru_cache(maxsize=64)
def _weights(count: int) -> tuple[float, ...]:
    """The weights of the outer pair, the next pair, and so on."""
    if count == SMALLEST_COUNT:
        return (sqrt(0.5),)
    scores = [-normal_quantile((i + 0.625) / (count + 0.25)) for i in range(count // 2)]
    total = 2.0 * fsum(score * score for score in scores)
    norm = sqrt(total)
    u = 1.0 / sqrt(count)
    corrected = [_polynomial(_FIRST_WEIGHT, u) + scores[0] / norm]
    if count > 5:
        corrected.append(_polynomial(_SECOND_WEIGHT, u) + scores[1] / norm)
    known = len(corrected)
    rest = total - 2.0 * fsum(score * score for score in scores[:known])
    factor = sqrt(rest / (1.0 - 2.0 * fsum(w * w for w in corrected)))
    return (*corrected, *(score / factor for score in scores[known:]))


def _p_value(complement: float, count: int) -> float:
    """The probability of a W this low in a normal sample, from 1 - W."""
    if count == SMALLEST_COUNT:
        return max(0.0, 6.0 / pi * (asin(sqrt(1.0 - complement)) - pi / 3.0))
    if complement == 0.0:
        return 1.0
    statistic = log(complement)
    if count <= _SMALL_UP_TO:
        limit = _polynomial(_SMALL_SHIFT, count)
        if statistic >= limit:
            return 1e-99
        statistic = -log(limit - statistic)
        mean = _polynomial(_SMALL_MEAN, count)
        deviation = exp(_polynomial(_SMALL_DEVIATION, count))
    else:
        mean = _polynomial(_LARGE_MEAN, log(count))
        deviation = exp(_polynomial(_LARGE_DEVIATION, log(count)))
    return 0.5 * erfc((statistic - mean) / deviation / sqrt(2.0))


def _polynomial(coefficients: Sequence[float], at: float) -> float:
    total = 0.0
    for coefficient in reversed(coefficients):
        total = total * at + coefficient
    return total
