"""The ratio of two variances, and the F test that it is 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import f_quantile, f_upper_p
from steelyard.analysis.tables.table_analysis import Test
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
METHOD = "f-variances"


def variance_ratio(
    baseline: Floats, candidate: Floats, confidence: float
) -> tuple[Interval, Test | None]:
    """Candidate / baseline of the variance: as R's ``var.test``. Takes both groups for normal."""
    n, m = len(candidate), len(baseline)
    if min(n, m) < 2:
        return Unbounded(
            None, confidence, METHOD, "too-few-values", "A group of one value has no variance."
        ), None
    below = float(baseline.var(ddof=1))
    if below == 0:
        return Unbounded(
            None, confidence, METHOD, "baseline-zero", "The baseline's values are all alike."
        ), None
    ratio = float(candidate.var(ddof=1)) / below
    degrees = (float(n - 1), float(m - 1))
    upper = f_upper_p(ratio, *degrees)
    alpha = (1 - confidence) / 2
    low = ratio / f_quantile(1 - alpha, *degrees)
    high = ratio / f_quantile(alpha, *degrees)
    p = min(1.0, 2 * min(upper, 1 - upper))
    return Estimate(ratio, low, high, confidence, METHOD), Test("F of variances", ratio, degrees, p)
