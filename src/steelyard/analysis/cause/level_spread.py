"""How far apart the levels of a factor are, with what noise leaves uncertain of it.

The spread of the levels is the standard deviation of their means, noise taken off. Its square is
what a factor adds to the variance of a response whose setups take each level equally often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import special as _untyped  # pyright: ignore[reportMissingTypeStubs]

from steelyard.analysis.distributions.table_distributions import f_upper_p
from steelyard.core.estimate import Estimate, Interval, Unbounded

special = cast("Any", _untyped)

Floats = NDArray[np.float64]
METHOD = "fiducial-noncentral"
# One draw in each of so many equal parts of the probability: quantiles at 2.5 % of them vary by
# less than 1 % of the interval's width.
DRAW_COUNT = 4096
_BISECTIONS = 50
# What rounding leaves of differences of numbers of size 1.
_ROUNDING = 1e-24


@dataclass(frozen=True)
class Spread:
    """The spread of levels that were measured in complete blocks.

    Parameters
    ----------
    means : array
        Of each level.
    variance : float
        Between levels, noise taken off; at least 0.
    noise_variance : float
        Of one value around its level and block.
    statistic, p : float
        F, and its p value: could the levels be all alike?
    degrees : (float, float)
    draws : array
        Of the variance between levels: how probable the data leave each value.
    """

    means: Floats
    variance: float
    noise_variance: float
    statistic: float
    p: float
    degrees: tuple[float, float]
    draws: Floats

    def interval(self, confidence: float) -> Estimate:
        """The standard deviation between levels, with its interval."""
        low, high = quantiles_of(self.draws, confidence)
        estimate = float(self.variance**0.5)
        low, high = min(float(low**0.5), estimate), max(float(high**0.5), estimate)
        return Estimate(estimate, low, high, confidence, METHOD)


def spread_of(values: Floats, generator: np.random.Generator) -> Spread:
    """The spread of the levels in complete blocks.

    Parameters
    ----------
    values : array of shape (blocks, levels)
        At least 2 of each.
    generator : numpy.random.Generator

    Notes
    -----
    Effects of blocks are additive; what is left is independent and normal, with one variance. The
    sum of squares between levels is then that variance times a non-central chi-squared, and both
    are inverted at random probabilities (a generalised pivotal quantity: Weerahandi, Exact
    Statistical Methods for Data Analysis, 1995, chapter 5).
    """
    blocks, levels = values.shape
    means = values.mean(axis=0)
    left = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    between, within = float(levels - 1), float((blocks - 1) * (levels - 1))
    square = float(blocks * ((means - means.mean()) ** 2).sum())
    error = float((left**2).sum()) / within
    scale = float((values**2).mean())
    if error <= _ROUNDING * scale:
        variance = square / (between * blocks)
        variance = variance if variance > _ROUNDING * scale else 0.0
        certain = 0.0 if variance > 0 else 1.0
        statistic = float("inf") if variance > 0 else 0.0
        draws = np.full(DRAW_COUNT, variance)
        return Spread(means, variance, 0.0, statistic, certain, (between, within), draws)
    statistic = square / between / error
    noise = error * within / np.asarray(special.chdtri(within, _spaced(generator)))
    shift = _noncentrality(square / noise, between, _spaced(generator))
    draws = shift * noise / (between * blocks)
    return Spread(
        means=means,
        variance=max(0.0, (square / between - error) / blocks),
        noise_variance=error,
        statistic=statistic,
        p=f_upper_p(statistic, between, within),
        degrees=(between, within),
        draws=draws,
    )


def _spaced(generator: np.random.Generator) -> Floats:
    """Probabilities in random order, one from each of equal parts of 0 to 1."""
    parts = np.arange(DRAW_COUNT) + generator.random(DRAW_COUNT)
    return generator.permutation(parts / DRAW_COUNT)


def _noncentrality(values: Floats, degrees: float, p: Floats) -> Floats:
    """The non-centralities at which `values` are the quantiles at `p`; 0 where there is none."""
    normal = np.asarray(special.ndtri(p))
    low = np.zeros_like(values)
    high = 2 * values + 20 * np.sqrt(values) + 100 + 4 * degrees
    none = np.asarray(special.chdtr(degrees, values)) <= p
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        below = _normal_score(values, degrees, middle) > normal
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(none, 0.0, (low + high) / 2)


def _normal_score(values: Floats, degrees: float, shift: Floats) -> Floats:
    """The normal quantile at the probability of a non-central chi-squared below `values`.

    Notes
    -----
    Sankaran, Biometrika 50 (1963) 199. One degree of freedom is taken exactly; with two the error
    in the probability is below 0.015, with three below 0.005, with fifteen below 0.001.
    """
    if degrees == 1:
        root, center = np.sqrt(values), np.sqrt(shift)
        below = special.ndtr(root - center) - special.ndtr(-root - center)
        return np.asarray(special.ndtri(below))
    first, second, third = degrees + shift, degrees + 2 * shift, degrees + 3 * shift
    power = 1 - 2 * first * third / (3 * second**2)
    p = second / first**2
    m = (power - 1) * (1 - 3 * power)
    mean = 1 + power * p * (power - 1 - (2 - power) * m * p / 2)
    deviation = power * np.sqrt(2 * p) * (1 + m * p / 2)
    return ((values / first) ** power - mean) / deviation


def quantiles_of(draws: Floats, confidence: float) -> tuple[float, float]:
    """The values that leave out equally many draws below and above."""
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(draws, (tail, 1.0 - tail)).tolist()
    return low, high


def share_left(without: Spread, held: Spread, confidence: float) -> Interval:
    """The share of the variance between levels that an intervention leaves.

    Unbounded where the levels may be all alike without it, so that there is no share of anything.
    """
    estimate = held.variance / without.variance if without.variance > 0 else None
    if estimate is None or float((without.draws <= 0).mean()) >= (1.0 - confidence) / 2:
        return Unbounded(
            estimate,
            confidence,
            METHOD,
            "no-effect",
            "Without the intervention the levels may be all alike: there is no effect of which a "
            "share could be left. More blocks would tell.",
        )
    ratios = held.draws / np.maximum(without.draws, np.finfo(np.float64).tiny)
    low, high = quantiles_of(ratios, confidence)
    return Estimate(estimate, min(low, estimate), max(high, estimate), confidence, METHOD)
