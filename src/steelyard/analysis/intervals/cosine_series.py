"""Intervals that allow for dependence: the long-run variance by a few cosines."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from math import cos, fsum, pi, sqrt
from operator import mul

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.fieller import MeanPair
from steelyard.analysis.intervals.mean import mean_of, two_sided
from steelyard.core.estimate import Estimate

MEAN_METHOD = "cosine-series-blocks"
RATIO_METHOD = "fieller-cosine-series"


def cosine_count(count: int) -> int:
    """How many cosines, which are also the degrees of freedom, for `count` values.

    Lazarus, Lewis, Stock and Watson, J. Business and Economic Statistics 36 (2018) 541,
    equation 4: 0.4 n^(2/3); at least 2.
    """
    return max(2, round(0.4 * count ** (2 / 3)))


def cosine_weights(values: Sequence[float]) -> list[float]:
    """The projections of the values on the first cosines, each with the long-run variance.

    ``sqrt(2/n) sum (v_i - mean) cos(pi j (i - 1/2) / n)`` for j = 1 ... `cosine_count`; slow
    movements of any kind, a trend among them, land in these.
    """
    count = len(values)
    mean = mean_of(values)
    deviations = [value - mean for value in values]
    scale = sqrt(2.0 / count)
    weights: list[float] = []
    for j in range(1, cosine_count(count) + 1):
        weights.append(scale * sum(map(mul, deviations, _wave(count, j))))
    return weights


# Every metric of every variant needs the same waves; 64 of them serve up to 2,000 values.
@lru_cache(maxsize=64)
def _wave(count: int, j: int) -> Sequence[float]:
    return array("d", [cos(pi * j * (i + 0.5) / count) for i in range(count)])


def long_run_means(baseline: Sequence[float], candidate: Sequence[float]) -> MeanPair:
    """The means of two variants with the long-run variances and covariance of the means.

    Parameters
    ----------
    baseline, candidate : sequence of float
        One value a block, in the order of the blocks; at least 4.
    """
    first, second = cosine_weights(baseline), cosine_weights(candidate)
    below = len(first) * len(baseline)
    return MeanPair(
        mean_of(baseline),
        mean_of(candidate),
        fsum(map(mul, first, first)) / below,
        fsum(map(mul, first, second)) / below,
        fsum(map(mul, second, second)) / below,
    )


def long_run_quantile(confidence: float, count: int) -> float:
    """Student's quantile for an interval that is made with `cosine_count` cosines."""
    return student_quantile(two_sided(confidence), cosine_count(count))


def long_run_mean_interval(
    values: Sequence[float], confidence: float, widening: float = 1.0
) -> Estimate:
    """The mean of dependent values, at least 4, in the order of their making.

    Notes
    -----
    Lazarus et al. (2018): the equal-weighted cosine estimator of the long-run variance with
    Student's quantile. Assumes that the dependence fades within a small part of the sequence;
    where it does not, the interval is still too narrow, which the simulated coverage shows.
    """
    mean = mean_of(values)
    weights = cosine_weights(values)
    variance = fsum(map(mul, weights, weights)) / (len(weights) * len(values))
    half_width = widening * long_run_quantile(confidence, len(values)) * sqrt(variance)
    return Estimate(mean, mean - half_width, mean + half_width, confidence, MEAN_METHOD)
