"""The interval of a share."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from steelyard.core.estimate import Estimate, Interval, Unbounded


def wilson_interval(count: int, total: int, confidence: float = 0.95) -> Interval:
    """The share ``count / total`` with the interval of E. B. Wilson, J. Am. Stat. Assoc. 22 (1927).

    Assumes independent cases. Without a case the share is unbounded.
    """
    if total == 0:
        explanation = "No case of this kind is in the table."
        return Unbounded(None, confidence, "wilson", "no-case", explanation)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = count / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / scale
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Estimate(share, min(low, share), max(high, share), confidence, "wilson")
