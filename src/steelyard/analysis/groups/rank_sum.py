"""Mann and Whitney's test, and the shift of Hodges and Lehmann that inverts it."""

from __future__ import annotations

from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.table_distributions import normal_two_sided_p
from steelyard.analysis.tables.table_analysis import Test
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]

METHOD = "hodges-lehmann"
# As R's wilcox.test: up to here the exact distribution, where no values tie.
_EXACT_COUNT = 50
# So many differences are sorted; of more, the wanted ones are found by counting.
_SORTED_DIFFERENCES = 4_000_000
_BISECTIONS = 200


def midranks(values: Floats) -> tuple[Floats, float]:
    """The ranks of values, ties sharing theirs, and the sum of t^3 - t over ties."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(np.append(starts, len(values)))
    shared = starts + (counts + 1) / 2
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(shared, counts)
    sizes = counts.astype(np.float64)
    return ranks, float((sizes**3 - sizes).sum())


def mann_whitney(baseline: Floats, candidate: Floats) -> Test:
    """Whether values of one group tend to be larger than those of the other.

    Notes
    -----
    The statistic counts pairs in which the candidate's value is the larger one, half for equal
    ones. Exact below 50 values a group without ties, else normal with the variance of ties and
    a continuity correction: as R's ``wilcox.test``.
    """
    n, m = len(candidate), len(baseline)
    ranks, ties = midranks(np.concatenate([candidate, baseline]))
    statistic = float(ranks[:n].sum()) - n * (n + 1) / 2
    if ties == 0 and max(n, m) < _EXACT_COUNT:
        return Test("Mann-Whitney", statistic, (), _exact_p(statistic, n, m))
    deviation = sqrt(_variance(n, m, ties))
    if deviation == 0:
        return Test("Mann-Whitney", statistic, (), 1.0)
    distance = abs(statistic - n * m / 2) - 0.5
    return Test("Mann-Whitney", statistic, (), normal_two_sided_p(max(0.0, distance) / deviation))


def _variance(n: int, m: int, ties: float) -> float:
    total = n + m
    return n * m / 12 * (total + 1 - ties / (total * (total - 1)))


def _shares(n: int, m: int) -> Floats:
    """The probability of each value of the statistic, by the product of (1 - q^(m+i)) / (1 - q^i)
    with floating numbers that stay whole up to 2^53 and exact enough above."""
    size = n * m + 1
    counts = np.zeros(size)
    counts[0] = 1.0
    for i in range(1, n + 1):
        if m + i < size:
            counts[m + i :] -= counts[: size - m - i].copy()
        for start in range(i):
            counts[start::i] = np.cumsum(counts[start::i])
    return counts / counts.sum()


def _exact_p(statistic: float, n: int, m: int) -> float:
    below = np.cumsum(_shares(n, m))
    u = min(statistic, n * m - statistic)
    return min(1.0, 2 * float(below[floor(u)]))


def hodges_lehmann(baseline: Floats, candidate: Floats, confidence: float) -> Interval:
    """The median of all differences candidate - baseline, with the interval of shifts that Mann
    and Whitney's test does not reject.

    Notes
    -----
    Hodges and Lehmann, Annals of Mathematical Statistics 34 (1963) 598; Moses' interval from
    ordered differences. It is an interval of the shift where both groups have one shape, and of
    the median difference otherwise.
    """
    n, m = len(candidate), len(baseline)
    rank = _lowest_rank(n, m, confidence, _ties(baseline, candidate))
    total = n * m
    middles = ((total - 1) // 2, total // 2)
    if rank is None:
        low, high = _ordered_differences(baseline, candidate, middles)
        return Unbounded(
            (low + high) / 2, confidence, METHOD, "too-few-values",
            f"{n} and {m} values have too few orders for a rank test at this confidence.",
        )  # fmt: skip
    wanted = (*middles, rank - 1, total - rank)
    first, second, low, high = _ordered_differences(baseline, candidate, wanted)
    return Estimate((first + second) / 2, low, high, confidence, METHOD)


def _ties(baseline: Floats, candidate: Floats) -> float:
    return midranks(np.concatenate([candidate, baseline]))[1]


def _lowest_rank(n: int, m: int, confidence: float, ties: float) -> int | None:
    """Which of the ordered differences, from 1, is the lower bound; None where none is."""
    alpha = 1.0 - confidence
    if ties == 0 and max(n, m) < _EXACT_COUNT:
        below = np.cumsum(_shares(n, m))
        # R's qwilcox: the smallest value that as much as alpha / 2 lies at or below.
        rank = int(np.searchsorted(below, alpha / 2 * (1 - 1e-12)))
        return rank if rank >= 1 else None
    middle = n * m / 2
    rank = floor(middle - normal_quantile(1 - alpha / 2) * sqrt(_variance(n, m, ties)))
    return rank if rank >= 1 else None


def _ordered_differences(
    baseline: Floats, candidate: Floats, places: tuple[int, ...]
) -> tuple[float, ...]:
    """The differences candidate - baseline at some places in their order."""
    if len(baseline) * len(candidate) <= _SORTED_DIFFERENCES:
        differences = np.subtract.outer(candidate, baseline).ravel()
        found = np.partition(differences, sorted(set(places)))
        return tuple(float(found[place]) for place in places)
    ordered = np.sort(baseline)
    return tuple(_difference_at(ordered, candidate, place) for place in places)


def _difference_at(ordered: Floats, candidate: Floats, place: int) -> float:
    """The smallest difference that more than `place` differences do not exceed, by bisection."""
    low = float(candidate.min() - ordered[-1])
    high = float(candidate.max() - ordered[0])
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        below = np.searchsorted(ordered, candidate - middle, side="left")
        if len(ordered) * len(candidate) - int(below.sum()) > place:
            high = middle
        else:
            low = middle
        if high - low <= 1e-14 * max(abs(low), abs(high), 1e-300):
            break
    return high
