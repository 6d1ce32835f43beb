"""Intervals for values of which each resembles the one before it: a first-order autoregression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt

from steelyard.analysis.tests.independence import FEWEST_VALUES, autocorrelation

RATIO_METHOD = "fieller-autoregressive"
# With few values a test at 1 % misses most of what makes an interval too narrow, and a false
# alarm costs width alone. These levels let 93 % of intervals hold from 20 values on (simulated
# in docs/STATISTICS.md).
_LOWEST_LEVEL, _HIGHEST_LEVEL = 0.05, 0.2
# With fewer the coefficient is so uncertain that an interval that allows for it says nothing.
FEWEST_BLOCKS = 20
# Below it too few values are warned of; so many independent sequences are, by definition.
_SUSPECT_LEVEL = 0.07
# Half a standard error (about 1 / sqrt(n)) on the safe side of the estimate: the inflation grows
# faster than the coefficient, so that an estimate right on average inflates too little.
_SAFETY = 0.5
_LARGEST_COEFFICIENT = 0.97
_SMALLEST_SHRINKAGE = 0.05


@dataclass(frozen=True)
class Memory:
    """How much a sequence remembers, and what that does to its mean.

    Parameters
    ----------
    coefficient : float
        Of the autoregression, corrected for its bias; 0 to 0.97.
    inflation : float
        The variance of the mean, in units of that of as many independent values, beside what
        the sample variance falls short of.
    degrees : float
        As many independent values less one.
    """

    coefficient: float
    inflation: float
    degrees: float


def resemblance_p(values: Sequence[float]) -> float | None:
    """The p value of no positive autocorrelation of lag 1, one-sided.

    Parameters
    ----------
    values : sequence of float
        In the order of their making.

    Returns
    -------
    float or None
        None for fewer than 8 values or when all are alike.

    Notes
    -----
    Of independent values r_1 has the mean -1 / n and the variance (n - 2)^2 / (n^2 (n - 1)):
    Moran, Biometrika 35 (1948) 255. Normal approximation.
    """
    count = len(values)
    found = autocorrelation(values, 1) if count >= FEWEST_VALUES else None
    if found is None:
        return None
    deviation = (count - 2) / (count * sqrt(count - 1))
    return 0.5 * erfc((found[0] + 1.0 / count) / deviation / sqrt(2.0))


def resembles(values: Sequence[float]) -> bool:
    """Whether an interval of these values has to allow for autocorrelation, and can."""
    count = len(values)
    if count < FEWEST_BLOCKS:
        return False
    level = max(_LOWEST_LEVEL, _HIGHEST_LEVEL * (FEWEST_BLOCKS / count) ** 2)
    p = resemblance_p(values)
    return p is not None and p < level


def suspected(values: Sequence[float], among: int = 1) -> bool:
    """Whether values that are too few for an interval by autoregression look as if they needed
    one; at a level that is shared `among` sequences."""
    if len(values) >= FEWEST_BLOCKS:
        return False
    p = resemblance_p(values)
    return p is not None and p < _SUSPECT_LEVEL / among


def memory_of(values: Sequence[float]) -> Memory:
    """How much a sequence remembers; at least 8 values that differ.

    Notes
    -----
    The coefficient is r_1 without its bias of about -(1 + 4 phi) / n (Marriott and Pope,
    Biometrika 41 (1954) 390; Kendall, ibid. 403), and half a standard error larger. The mean of n
    values of an autoregression has f = 1 + 2 sum (1 - k/n) phi^k times the variance of the mean
    of independent ones, while the sample variance is too small by 1 - (f - 1) / (n - 1):
    Zieba and Ramza, Metrology and Measurement Systems 18 (2011) 529.
    """
    count = len(values)
    found = autocorrelation(values, 1)
    lag = found[0] if found else 0.0
    coefficient = (count * lag + 1.0) / (count - 4.0) + _SAFETY / sqrt(count)
    coefficient = min(_LARGEST_COEFFICIENT, max(0.0, coefficient))
    factor = _mean_factor(coefficient, count)
    shrinkage = max(_SMALLEST_SHRINKAGE, 1.0 - (factor - 1.0) / (count - 1.0))
    return Memory(coefficient, factor / shrinkage, max(1.0, count / factor - 1.0))


def _mean_factor(coefficient: float, count: int) -> float:
    """``1 + 2 sum_{k=1}^{n-1} (1 - k/n) phi^k`` in closed form."""
    rest = 1.0 - coefficient
    tail = coefficient * (1.0 - coefficient**count) / (count * rest * rest)
    return 1.0 + 2.0 * (coefficient / rest - tail)
