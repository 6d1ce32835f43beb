"""What is said of the values of one metric of one variant."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

from steelyard.analysis.comparison.comparison_results import Summary
from steelyard.analysis.distributions.sorted_values import sorted_values
from steelyard.analysis.intervals.mean import mean_of, variance_of
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk
from steelyard.core.estimate import Interval
from steelyard.core.trial_columns import MANY


def sample_quantile(ordered: Sequence[float], p: float) -> float:
    """The quantile of sorted values: definition 7 of Hyndman and Fan, American Statistician
    50 (1996) 361, which R and numpy use unless told otherwise."""
    place = p * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def skewness_of(values: Sequence[float]) -> float:
    """The sample skewness, third central moment over the second to the power 3/2; 0 when all
    values are alike."""
    mean = mean_of(values)
    if len(values) >= MANY:
        return _skewness_of_many(values, mean)
    second = third = 0.0
    for value in values:
        deviation = value - mean
        square = deviation * deviation
        second += square
        third += square * deviation
    count = len(values)
    if not second > count * (1e-15 * mean) ** 2:
        return 0.0
    return third / count / (second / count) ** 1.5


def _skewness_of_many(values: Sequence[float], mean: float) -> float:
    import numpy as np

    deviations = np.asarray(values, dtype=np.float64) - mean
    squares = deviations * deviations
    second = float(squares.sum())
    if not second > len(values) * (1e-15 * mean) ** 2:
        return 0.0
    third = float((squares * deviations).sum())
    return third / len(values) / (second / len(values)) ** 1.5


def summarise(values: Sequence[float], mean: Interval) -> Summary:
    """The summary of values of the top repetition level, at least one.

    Parameters
    ----------
    values : sequence of float
    mean : Interval
        Their mean, with the interval that suits the experiment.
    """
    in_order = sorted_values(values)
    centre = mean.estimate if mean.estimate is not None else mean_of(values)
    deviation = sqrt(variance_of(values)) if len(values) > 1 else 0.0
    difference = in_order[-1] - in_order[0]
    return Summary(
        count=len(values),
        mean=mean,
        median=sample_quantile(in_order, 0.5),
        lower_quartile=sample_quantile(in_order, 0.25),
        upper_quartile=sample_quantile(in_order, 0.75),
        minimum=in_order[0],
        maximum=in_order[-1],
        standard_deviation=deviation,
        variation=_relative(deviation, centre),
        max_difference=difference,
        max_difference_ratio=_relative(difference, centre),
        normality=shapiro_wilk(in_order if len(in_order) <= 5000 else values),
    )


def _relative(value: float, mean: float) -> float:
    if value == 0.0:
        return 0.0
    return value / abs(mean) if mean else inf
