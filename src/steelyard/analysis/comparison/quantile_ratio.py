"""The ratio of a quantile of two variants, with an interval that no distribution is assumed for."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np

from steelyard.analysis.quantile.point_intervals import order_bounds
from steelyard.core.estimate import Estimate, Interval, Unbounded

METHOD = "order-statistics"


def quantile_ratio(
    baseline: Sequence[float],
    candidate: Sequence[float],
    quantile: float,
    *,
    confidence: float,
    comparison_count: int = 1,
) -> Interval:
    """Candidate / baseline of one quantile.

    Parameters
    ----------
    baseline, candidate : sequence of float
        The values of the highest repetition level; above 0.
    quantile : float
        Above 0 and below 1.
    confidence : float
        Of all `comparison_count` ratios together (Bonferroni).

    Returns
    -------
    Interval
        `Unbounded` where there are too few values beyond the quantile, or one is not above 0.

    Notes
    -----
    Each quantile is bounded by order statistics (`point_intervals.order_bounds`), and the
    logarithm of the ratio by the root of the sum of squares of the distances (MOVER: Zou and
    Donner, Statistics in Medicine 27 (2008) 1693). Values are taken for independent; blocks that
    both variants share make the interval wider than it need be, and never too narrow unless
    variants move against each other. Looks at the data before the last one are not allowed for.
    """
    each = 1.0 - (1.0 - confidence) / comparison_count
    pair = [np.sort(np.asarray(values, dtype=np.float64)) for values in (baseline, candidate)]
    if any(len(values) == 0 or values[0] <= 0 for values in pair):
        return Unbounded(
            None,
            confidence,
            METHOD,
            "no-values",
            "A variant has no value above 0 of this metric.",
        )
    x, y = (log(float(np.quantile(values, quantile))) for values in pair)
    bounds = [order_bounds(values, quantile, each) for values in pair]
    (low_x, high_x), (low_y, high_y) = bounds
    if low_x is None or high_x is None or low_y is None or high_y is None:
        return Unbounded(
            exp(y - x),
            confidence,
            METHOD,
            "too-few-values",
            f"{min(map(len, pair))} values do not bound the quantile {quantile:g}. Run more.",
        )
    down = ((y - log(low_y)) ** 2 + (log(high_x) - x) ** 2) ** 0.5
    up = ((log(high_y) - y) ** 2 + (x - log(low_x)) ** 2) ** 0.5
    return Estimate(exp(y - x), exp(y - x - down), exp(y - x + up), confidence, METHOD)
