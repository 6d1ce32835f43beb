"""Wilcoxon's signed-rank test of paired values, and the pseudo-median that inverts it."""

from __future__ import annotations

from math import ceil, floor, sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.table_distributions import normal_two_sided_p
from steelyard.analysis.groups.rank_sum import midranks
from steelyard.analysis.tables.table_analysis import Test
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]

METHOD = "pseudo-median"
_EXACT_COUNT = 50
# Walsh averages of more differences are taken of evenly spaced ones in their order.
_MOST_DIFFERENCES = 3000


def wilcoxon(differences: Floats) -> Test:
    """Whether paired differences lie around 0 alike to both sides.

    Notes
    -----
    Differences of 0 are left out. Exact below 50 differences without ties, else normal with the
    variance of ties and a continuity correction: as R's ``wilcox.test(paired = TRUE)``.
    """
    kept = differences[differences != 0]
    count = len(kept)
    if count == 0:
        return Test("Wilcoxon", 0.0, (), 1.0)
    ranks, ties = midranks(np.abs(kept))
    statistic = float(ranks[kept > 0].sum())
    if ties == 0 and count == len(differences) and count < _EXACT_COUNT:
        below = np.cumsum(_shares(count))
        u = min(statistic, count * (count + 1) / 2 - statistic)
        return Test("Wilcoxon", statistic, (), min(1.0, 2 * float(below[floor(u)])))
    deviation = sqrt(_variance(count, ties))
    distance = max(0.0, abs(statistic - count * (count + 1) / 4) - 0.5)
    p = normal_two_sided_p(distance / deviation) if deviation > 0 else 1.0
    return Test("Wilcoxon", statistic, (), p)


def _variance(count: int, ties: float) -> float:
    return count * (count + 1) * (2 * count + 1) / 24 - ties / 48


def _shares(count: int) -> Floats:
    """The probability of each sum of ranks."""
    counts = np.zeros(count * (count + 1) // 2 + 1)
    counts[0] = 1.0
    for rank in range(1, count + 1):
        counts[rank:] = (counts[rank:] + counts[:-rank]) / 2
        counts[:rank] /= 2
    return counts


def pseudo_median(differences: Floats, confidence: float) -> Interval:
    """The median of the means of all pairs of differences, with the interval of shifts that
    Wilcoxon's test does not reject.

    Notes
    -----
    Hodges and Lehmann (1963); Tukey's interval from ordered Walsh averages.
    """
    count = len(differences)
    if count > _MOST_DIFFERENCES:
        places = np.linspace(0, count - 1, _MOST_DIFFERENCES).round().astype(np.int64)
        differences = np.sort(differences)[places]
    first, second = np.triu_indices(len(differences))
    averages = np.sort((differences[first] + differences[second]) / 2)
    middle = float(np.median(averages))
    rank = _lowest_rank(count, confidence, midranks(np.abs(differences))[1])
    if rank is None:
        return Unbounded(
            middle, confidence, METHOD, "too-few-values",
            f"{count} pairs have too few signs for a rank test at this confidence; "
            f"{ceil(1 - np.log2(1 - confidence))} are the least.",
        )  # fmt: skip
    scaled = max(1, round(rank * len(averages) / (count * (count + 1) / 2)))
    low, high = averages[scaled - 1], averages[len(averages) - scaled]
    return Estimate(middle, float(low), float(high), confidence, METHOD)


def _lowest_rank(count: int, confidence: float, ties: float) -> int | None:
    alpha = 1.0 - confidence
    if ties == 0 and count < _EXACT_COUNT:
        below = np.cumsum(_shares(count))
        rank = int(np.searchsorted(below, alpha / 2 * (1 - 1e-12)))
    else:
        spread = normal_quantile(1 - alpha / 2) * sqrt(_variance(count, ties))
        rank = floor(count * (count + 1) / 4 - spread)
    return rank if rank >= 1 else None
