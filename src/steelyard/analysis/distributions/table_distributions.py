"""Tails and quantiles of t, F, chi-squared and the normal, for analyses of tables.

One door to scipy.special, which only they wait for; what runs between trials has its own in the
standard library (student.py, normal.py, chi_squared.py).
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import special as _untyped  # pyright: ignore[reportMissingTypeStubs]

special = cast("Any", _untyped)

Floats = NDArray[np.float64]
_BISECTIONS = 200


def t_two_sided_p(statistic: float, degrees: float) -> float:
    """The probability of a Student's t at least so far from 0."""
    return float(min(1.0, 2.0 * special.stdtr(degrees, -abs(statistic))))


def t_two_sided_p_values(statistics: Floats, degrees: Floats) -> Floats:
    """`t_two_sided_p` of each pair of `statistics` and `degrees`."""
    return np.asarray(2.0 * special.stdtr(degrees, -np.abs(statistics)), dtype=np.float64)


def t_quantile(p: float, degrees: float) -> float:
    """The value below which Student's t lies with probability `p`; normal for infinite degrees."""
    if np.isinf(degrees):
        return float(special.ndtri(p))
    return float(special.stdtrit(degrees, p))


def f_upper_p(statistic: float, numerator: float, denominator: float) -> float:
    """The probability of an F at least so large; chi-squared where the denominator is infinite."""
    if not statistic > 0:
        return 1.0
    if np.isinf(denominator):
        return chi_squared_upper_p(statistic * numerator, numerator)
    return float(special.fdtrc(numerator, denominator, statistic))


def f_quantile(p: float, numerator: float, denominator: float) -> float:
    """The value below which F lies with probability `p`."""
    return float(special.fdtri(numerator, denominator, p))


def chi_squared_upper_p(statistic: float, degrees: float) -> float:
    """The probability of a chi-squared at least so large."""
    return float(special.chdtrc(degrees, statistic)) if statistic > 0 else 1.0


def chi_squared_upper_quantile(p: float, degrees: float) -> float:
    """The value above which chi-squared lies with probability `p`."""
    return float(special.chdtri(degrees, p))


def binomial_lower_p(successes: Floats, trials: int, share: float) -> Floats:
    """The probability of at most so many successes."""
    return np.asarray(special.bdtr(successes, trials, share), dtype=np.float64)


def binomial_probabilities(trials: int, share: float) -> Floats:
    """The probabilities of 0 ... `trials` successes; `share` above 0 and below 1."""
    successes = np.arange(trials + 1)
    ways = special.binom(trials, successes)
    return np.asarray(ways * share**successes * (1 - share) ** (trials - successes))


def normal_lower_p(values: Floats) -> Floats:
    """The probability of a standard normal below each value."""
    return np.asarray(special.ndtr(values), dtype=np.float64)


def normal_two_sided_p(statistic: float) -> float:
    """The probability of a standard normal at least so far from 0."""
    return float(min(1.0, 2.0 * special.ndtr(-abs(statistic))))


def log_normal_lower_p(values: Floats) -> Floats:
    """The logarithm of `normal_lower_p`, without losing the far tail."""
    return np.asarray(special.log_ndtr(values), dtype=np.float64)


def normal_scores(count: int) -> Floats:
    """The normal quantiles at (i - 3/8) / (n + 1/4), for quantile plots (Blom, 1958)."""
    ranks = np.arange(1, count + 1)
    return np.asarray(special.ndtri((ranks - 0.375) / (count + 0.25)), dtype=np.float64)


def t_power(shift: float, degrees: float, confidence: float) -> float:
    """The probability that a two-sided t test at 1 - `confidence` finds a shift of so many
    standard errors.

    Notes
    -----
    The non-central t; both tails count, as the test has two.
    """
    limit = t_quantile(0.5 + confidence / 2, degrees)
    upper = 1.0 - float(special.nctdtr(degrees, shift, limit))
    lower = float(special.nctdtr(degrees, shift, -limit))
    return min(1.0, max(0.0, upper) + max(0.0, lower))


def noncentrality_interval(
    statistic: float, numerator: float, denominator: float, confidence: float
) -> tuple[float, float]:
    """The non-centralities of F at which `statistic` is the upper and the lower tail's quantile.

    Notes
    -----
    Pivoting the non-central F (Smithson, Educational and Psychological Measurement 61 (2001)
    605). 0 where even the central F has less in the tail.
    """
    alpha = (1.0 - confidence) / 2

    def below(noncentrality: float) -> float:
        return float(special.ncfdtr(numerator, denominator, noncentrality, statistic))

    def solve(target: float) -> float:
        if below(0.0) <= target:
            return 0.0
        high = max(1.0, statistic * numerator)
        while below(high) > target:
            high *= 2
        low = 0.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            if below(middle) > target:
                low = middle
            else:
                high = middle
            if high - low <= 1e-12 * high:
                break
        return (low + high) / 2

    return solve(1.0 - alpha), solve(alpha)
