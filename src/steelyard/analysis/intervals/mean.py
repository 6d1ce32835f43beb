"""Means and the intervals around them."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from operator import mul

from steelyard.analysis.distributions.student import student_quantile
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.trial_columns import MANY

MEAN_METHOD = "student-blocks"


def mean_of(values: Sequence[float]) -> float:
    """The arithmetic mean, summed without rounding errors that grow with the count."""
    if len(values) >= MANY:
        return _mean_of_many(values)
    return fsum(values) / len(values)


def _mean_of_many(values: Sequence[float]) -> float:
    """By numpy, whose sums are pairwise; the mean of the deviations takes away what is left of
    errors, so that values that are alike have the mean that they are."""
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    rough = numbers.mean()
    return float(rough + (numbers - rough).mean())


def lowest_of(values: Sequence[float]) -> float:
    """The smallest of the values."""
    if len(values) >= MANY:
        import numpy as np

        return float(np.asarray(values, dtype=np.float64).min())
    return min(values)


def covariance_of(first: Sequence[float], second: Sequence[float]) -> float:
    """The covariance of two sequences of one length, with n - 1 below. At least 2 values."""
    first_mean = mean_of(first)
    second_mean = first_mean if second is first else mean_of(second)
    if len(first) >= MANY:
        import numpy as np

        deviations = np.asarray(first, dtype=np.float64) - first_mean
        products = deviations * (np.asarray(second, dtype=np.float64) - second_mean)
        return float(products.sum()) / (len(first) - 1)
    first_deviations = [value - first_mean for value in first]
    second_deviations = (
        first_deviations if second is first else [value - second_mean for value in second]
    )
    return fsum(map(mul, first_deviations, second_deviations)) / (len(first) - 1)


def variance_of(values: Sequence[float]) -> float:
    """The variance with n - 1 below. At least 2 values."""
    return covariance_of(values, values)


def two_sided(confidence: float) -> float:
    """The p whose quantile bounds a two-sided interval of this confidence."""
    return (1.0 + confidence) / 2.0


def one_value(estimate: float | None, confidence: float, method: str) -> Unbounded:
    """The typed result where one value at the top repetition level cannot show any variance."""
    return Unbounded(
        estimate,
        confidence,
        method,
        "one-value",
        "One value at the top repetition level says nothing of how values vary: "
        "at least two are needed for an interval.",
    )


def mean_interval(
    values: Sequence[float], confidence: float, quantile: float | None = None
) -> Interval:
    """The mean of the values with Student's interval.

    Parameters
    ----------
    values : sequence of float
        Means of the top repetition level, one each; at least one.
    confidence : float
        Such as 0.95.
    quantile : float, optional
        Instead of Student's quantile with n - 1 degrees of freedom: the adjusted one of an
        experiment that stopped by its precision.

    Notes
    -----
    Kalibera and Jones, ISMM 2013, equation 4. Assumes independent values whose mean is about
    normal; exact for normal values.
    """
    count = len(values)
    mean = mean_of(values)
    if count < 2:
        return one_value(mean, confidence, MEAN_METHOD)
    if quantile is None:
        quantile = student_quantile(two_sided(confidence), count - 1)
    half_width = quantile * sqrt(variance_of(values) / count)
    return Estimate(mean, mean - half_width, mean + half_width, confidence, MEAN_METHOD)
