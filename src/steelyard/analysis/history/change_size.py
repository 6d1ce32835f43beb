"""How large a change is: the interval of its ratio and of its difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.history.memory import lag_memory, mean_factor
from steelyard.analysis.history.series import Floats
from steelyard.analysis.intervals.fieller import (
    MeanPair,
    fieller_interval,
    positive_ratio_interval,
    welch_degrees,
)
from steelyard.analysis.intervals.mean import one_value, two_sided
from steelyard.core.estimate import Estimate, Interval, Unbounded

LEVEL_METHOD = "fieller-welch-lag1"
LINE_METHOD = "line-lag1"
SPREAD_METHOD = "log-spread"
# A standard deviation of fewer values has hardly an interval.
_FEWEST_OF_SPREAD = 4
_FEWEST_OF_LINE = 4


@dataclass(frozen=True)
class Sizes:
    """A change as a ratio after / before and as a difference after - before."""

    ratio: Interval
    difference: Interval


def level_sizes(before: Floats, after: Floats, confidence: float) -> Sizes:
    """The sizes of a change of level.

    Parameters
    ----------
    before, after : array
        The values without and with the change, in order.
    confidence : float

    Notes
    -----
    Welch's t (Biometrika 34 (1947) 28) and Fieller's set, with the variance of each mean multiplied
    by what an autoregression with the values' lag-1 correlation makes of it. A side with one
    value takes the variance of the other.
    """
    means = _mean_pair(before, after)
    if means is None:
        return _no_sizes(before, after, confidence, LEVEL_METHOD)
    counts = max(2, len(before)), max(2, len(after))
    degrees = welch_degrees(means, *counts)
    quantile = t_quantile(two_sided(confidence), max(1.0, degrees))
    reach = quantile * sqrt(means.baseline_variance + means.candidate_variance)
    difference = means.candidate - means.baseline
    positive = before.min() > 0.0 and after.min() > 0.0
    made = positive_ratio_interval if positive else fieller_interval
    ratio = made(means, quantile, confidence, LEVEL_METHOD)
    return Sizes(
        ratio,
        Estimate(difference, difference - reach, difference + reach, confidence, LEVEL_METHOD),
    )


def creep_sizes(values: Floats, confidence: float) -> Sizes:
    """The sizes of a drift along `values`: of the ends of a straight line through them."""
    count = len(values)
    if count < _FEWEST_OF_LINE:
        return _no_sizes(values[:1], values[-1:], confidence, LINE_METHOD)
    order = np.arange(count) - (count - 1) / 2
    mean, squares = float(values.mean()), float(order @ order)
    slope = float(order @ values) / squares
    left = values - mean - slope * order
    variance = float(left @ left) / (count - 2)
    factor = mean_factor(lag_memory(left), count)
    of_mean, of_slope = variance * factor / count, variance * factor / squares
    half = (count - 1) / 2
    ends = of_mean + half * half * of_slope
    means = MeanPair(
        mean - half * slope, mean + half * slope, ends, of_mean - half * half * of_slope, ends
    )
    quantile = t_quantile(two_sided(confidence), max(1.0, (count - 2) / factor))
    positive = values.min() > 0.0 and min(means.baseline, means.candidate) > 0.0
    made = positive_ratio_interval if positive else fieller_interval
    difference, reach = 2 * half * slope, quantile * 2 * half * sqrt(of_slope)
    return Sizes(
        made(means, quantile, confidence, LINE_METHOD),
        Estimate(difference, difference - reach, difference + reach, confidence, LINE_METHOD),
    )


def noise_sizes(before: Floats, after: Floats, confidence: float) -> Sizes:
    """The sizes of a change of noise: of the standard deviations.

    Notes
    -----
    The logarithm of a sample's standard deviation has about the variance (k - 1) / (4 n), k the
    kurtosis (Cramér, Mathematical Methods of Statistics (1946), section 27.4), here that of both
    sides together and at least the normal distribution's 3.
    """
    if min(len(before), len(after)) < _FEWEST_OF_SPREAD or not (np.ptp(before) and np.ptp(after)):
        return _no_spreads(before, after, confidence)
    own, other = float(before.std(ddof=1)), float(after.std(ddof=1))
    scaled = np.concatenate([(before - before.mean()) / own, (after - after.mean()) / other])
    kurtosis = max(3.0, float(np.mean(scaled**4) / np.mean(scaled**2) ** 2))
    variance = (kurtosis - 1) / 4 * (1 / (len(before) - 1) + 1 / (len(after) - 1))
    reach = normal_quantile(two_sided(confidence)) * sqrt(variance)
    ratio = other / own
    low, high = exp(log(ratio) - reach), exp(log(ratio) + reach)
    # The difference with the spread before it as known as the ratio is.
    bounds = sorted([own * (low - 1), own * (high - 1)])
    return Sizes(
        Estimate(ratio, low, high, confidence, SPREAD_METHOD),
        Estimate(other - own, bounds[0], bounds[1], confidence, SPREAD_METHOD),
    )


def _mean_pair(before: Floats, after: Floats) -> MeanPair | None:
    if not len(before) or not len(after) or len(before) + len(after) < 3:
        return None
    own, other = _mean_variance(before), _mean_variance(after)
    if own is None:
        own = (other or 0.0) * len(after)
    if other is None:
        other = own * len(before)
    return MeanPair(float(before.mean()), float(after.mean()), own, 0.0, other)


def _mean_variance(values: Floats) -> float | None:
    if len(values) < 2:
        return None
    factor = mean_factor(lag_memory(values), len(values))
    return float(values.var(ddof=1)) * factor / len(values)


def _no_sizes(before: Floats, after: Floats, confidence: float, method: str) -> Sizes:
    if not len(before) or not len(after):
        return Sizes(one_value(None, confidence, method), one_value(None, confidence, method))
    own, other = float(before.mean()), float(after.mean())
    ratio = other / own if own else None
    return Sizes(one_value(ratio, confidence, method), one_value(other - own, confidence, method))


def _no_spreads(before: Floats, after: Floats, confidence: float) -> Sizes:
    own = float(before.std()) if len(before) else 0.0
    other = float(after.std()) if len(after) else 0.0
    ratio = other / own if own else inf
    found = Unbounded(
        ratio if ratio < inf else None,
        confidence,
        SPREAD_METHOD,
        "no-spread",
        "One side has fewer than 4 values, or all of its values are the same.",
    )
    return Sizes(
        found, Unbounded(other - own, confidence, SPREAD_METHOD, found.reason, found.explanation)
    )
