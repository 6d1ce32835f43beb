"""Tests of means: Student's and Welch's t, one-way analyses of variance, and Kruskal-Wallis."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import (
    chi_squared_upper_p,
    f_upper_p,
    noncentrality_interval,
    t_quantile,
    t_two_sided_p,
)
from steelyard.analysis.groups.rank_sum import midranks
from steelyard.analysis.tables.table_analysis import Test
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def mean_difference(
    baseline: Floats, candidate: Floats, confidence: float, equal: bool
) -> tuple[Interval, Test | None]:
    """The difference candidate - baseline of the means, and the test that it is 0.

    Parameters
    ----------
    equal : bool
        Whether both groups have one variance: Student's t (1908); else Welch's (Biometrika 34
        (1947) 28).
    """
    n, m = len(candidate), len(baseline)
    difference = float(candidate.mean() - baseline.mean())
    name, method = ("t", "student-pooled") if equal else ("Welch", "welch")
    fewest = 3 if equal else 4
    if min(n, m) < (1 if equal else 2) or n + m < fewest:
        return _one_value(difference, confidence, method), None
    squares = [float(((g - g.mean()) ** 2).sum()) for g in (candidate, baseline)]
    if equal:
        degrees = float(n + m - 2)
        error = sqrt(sum(squares) / degrees * (1 / n + 1 / m))
    else:
        parts = squares[0] / (n - 1) / n, squares[1] / (m - 1) / m
        error = sqrt(sum(parts))
        below = parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1)
        degrees = sum(parts) ** 2 / below if below > 0 else float(n + m - 2)
    if error == 0:
        p = 1.0 if difference == 0 else 0.0
        same = Estimate(difference, difference, difference, confidence, method)
        return same, Test(name, 0.0 if difference == 0 else float("inf"), (degrees,), p)
    half = t_quantile(0.5 + confidence / 2, degrees) * error
    statistic = difference / error
    interval = Estimate(difference, difference - half, difference + half, confidence, method)
    return interval, Test(name, statistic, (degrees,), t_two_sided_p(statistic, degrees))


def _one_value(estimate: float, confidence: float, method: str) -> Unbounded:
    return Unbounded(
        estimate, confidence, method, "too-few-values",
        "A group with one value says nothing of how much its values vary. Measure it again.",
    )  # fmt: skip


def one_way(values: Floats, group: Integers) -> Test | None:
    """The F test that all groups have one mean, their variances being alike."""
    counts = np.bincount(group)
    means = np.bincount(group, values) / counts
    degrees = (float(len(counts) - 1), float(len(values) - len(counts)))
    within = float(((values - means[group]) ** 2).sum())
    if min(degrees) < 1 or within <= 0:
        return None
    between = float(counts @ (means - values.mean()) ** 2)
    statistic = between / degrees[0] / (within / degrees[1])
    return Test("F", statistic, degrees, f_upper_p(statistic, *degrees))


def welch_anova(values: Floats, group: Integers) -> Test | None:
    """The test that all groups have one mean, each with its own variance (Welch, Biometrika 38
    (1951) 330)."""
    counts = np.bincount(group)
    if len(counts) < 2 or int(counts.min()) < 2:
        return None
    means = np.bincount(group, values) / counts
    variances = np.bincount(group, (values - means[group]) ** 2) / (counts - 1)
    if not bool((variances > 0).all()):
        return None
    weights = counts / variances
    total = float(weights.sum())
    centre = float(weights @ means) / total
    size = len(counts)
    spare = float(((1 - weights / total) ** 2 / (counts - 1)).sum())
    above = float(weights @ (means - centre) ** 2) / (size - 1)
    statistic = above / (1 + 2 * (size - 2) / (size**2 - 1) * spare)
    degrees = (float(size - 1), (size**2 - 1) / (3 * spare))
    return Test("Welch F", statistic, degrees, f_upper_p(statistic, *degrees))


def kruskal_wallis(values: Floats, group: Integers) -> Test | None:
    """Whether values of some groups tend to be larger (Kruskal and Wallis, J. Amer. Statist.
    Assoc. 47 (1952) 583), corrected for ties."""
    counts = np.bincount(group)
    count = len(values)
    if len(counts) < 2:
        return None
    ranks, ties = midranks(values)
    correction = 1 - ties / (count**3 - count)
    if correction <= 0:
        return None
    sums = np.bincount(group, ranks)
    statistic = 12 / (count * (count + 1)) * float((sums**2 / counts).sum()) - 3 * (count + 1)
    statistic /= correction
    degrees = float(len(counts) - 1)
    return Test("Kruskal-Wallis", statistic, (degrees,), chi_squared_upper_p(statistic, degrees))


def eta_squared(test: Test, confidence: float) -> Interval:
    """The share of the variance that an F test's factor explains, by inverting the test.

    Notes
    -----
    From the interval of the non-centrality: ``lambda / (lambda + N)`` (Smithson, Educational and
    Psychological Measurement 61 (2001) 605). The estimate is omega squared, which is not as
    biased at small counts as eta squared (Hays, Statistics, 1963).
    """
    numerator, denominator = test.degrees
    count = numerator + denominator + 1
    low, high = noncentrality_interval(test.statistic, numerator, denominator, confidence)
    excess = numerator * (test.statistic - 1)
    omega = max(0.0, excess / (excess + count)) if excess > 0 else 0.0
    bounds = low / (low + count), high / (high + count)
    return Estimate(
        min(max(omega, bounds[0]), bounds[1]), bounds[0], bounds[1], confidence, "noncentral-f"
    )
