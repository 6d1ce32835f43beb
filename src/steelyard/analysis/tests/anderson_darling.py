"""Anderson and Darling's test of normality, for more values than Shapiro and Wilk's takes."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.comparison.comparison_results import NormalityTest
from steelyard.analysis.distributions.table_distributions import log_normal_lower_p

SMALLEST_COUNT = 8


def anderson_darling(values: NDArray[np.float64]) -> NormalityTest | None:
    """Whether the values look like a normal sample of unknown mean and variance.

    Returns
    -------
    NormalityTest or None
        None for fewer than 8 values, or when all are alike.

    Notes
    -----
    Statistic and p value as D'Agostino and Stephens, Goodness-of-Fit Techniques (1986), table
    4.9; the approximation of R's ``nortest::ad.test``.
    """
    count = len(values)
    if count < SMALLEST_COUNT or not np.ptp(values) > 0:
        return None
    ordered = np.sort(values)
    scores = (ordered - ordered.mean()) / ordered.std(ddof=1)
    ranks = np.arange(1, count + 1)
    terms = (2 * ranks - 1) * (log_normal_lower_p(scores) + log_normal_lower_p(-scores[::-1]))
    statistic = -count - float(terms.mean())
    return NormalityTest(statistic, _p(statistic * (1 + 0.75 / count + 2.25 / count**2)))


def _p(a: float) -> float:
    if a < 0.2:
        return 1 - exp(-13.436 + 101.14 * a - 223.73 * a * a)
    if a < 0.34:
        return 1 - exp(-8.318 + 42.796 * a - 59.938 * a * a)
    if a < 0.6:
        return exp(0.9177 - 4.279 * a - 1.38 * a * a)
    # Beyond this the parabola turns upwards again; what is left is below 1e-24.
    return exp(1.2937 - 5.709 * a + 0.0186 * a * a) if a < 10 else 3.7e-24
