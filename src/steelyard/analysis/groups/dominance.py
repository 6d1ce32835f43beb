"""How often a value of one group exceeds one of the other: Cliff's delta."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]

METHOD = "cliff-consistent"


def cliffs_delta(baseline: Floats, candidate: Floats, confidence: float) -> Interval:
    """The share of pairs whose candidate is larger, minus that whose candidate is smaller.

    Notes
    -----
    Cliff, Psychological Bulletin 114 (1993) 494: the consistent estimate of the variance, and
    the asymmetric interval, which stays between -1 and 1 (Feng and Cliff, Journal of Modern
    Applied Statistical Methods 3 (2004) 322). From -1, nothing of the candidate is larger, to 1,
    everything is; 0.147, 0.33 and 0.474 are called small, medium and large (Romano et al. 2006).
    """
    n, m = len(candidate), len(baseline)
    rows, ties = _dominance(candidate, baseline)
    columns, _ = _dominance(baseline, candidate)
    delta = float(rows.mean())
    if min(n, m) < 2:
        return Unbounded(
            delta, confidence, METHOD, "too-few-values", "A group of one value has no spread."
        )
    columns = -columns
    squares = n * m * (1 - ties) - n * m * delta**2
    variance = (
        m * m * float(((rows - delta) ** 2).sum())
        + n * n * float(((columns - delta) ** 2).sum())
        - squares
    ) / (n * m * (n - 1) * (m - 1))
    # What can be at the least where one group exceeds the other in every pair.
    variance = max(variance, (1 - delta**2) / (n * m - 1))
    z = normal_quantile(0.5 + confidence / 2)
    if abs(delta) >= 1.0:
        # Neither end is known to be 1: the least dominance that all pairs would still show.
        end = (min(n, m) - z * z) / (min(n, m) + z * z)
        low, high = (end, 1.0) if delta > 0 else (-1.0, -end)
        return Estimate(delta, low, high, confidence, METHOD)
    root = z * sqrt(variance) * sqrt((1 - delta**2) ** 2 + z * z * variance)
    centre, scale = delta - delta**3, 1 - delta**2 + z * z * variance
    low, high = (centre - root) / scale, (centre + root) / scale
    return Estimate(delta, max(-1.0, low), min(1.0, high), confidence, METHOD)


def _dominance(first: Floats, second: Floats) -> tuple[Floats, float]:
    """For each value of the first group the share of the second below it minus that above it,
    and the share of pairs that tie."""
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left")
    up_to = np.searchsorted(ordered, first, side="right")
    count = len(second)
    shares = (below - (count - up_to)) / count
    return shares, float((up_to - below).sum()) / (count * len(first))
