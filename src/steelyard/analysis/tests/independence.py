"""Whether a sequence of values looks independent: autocorrelation, portmanteau test, trend."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import erfc, exp, fsum, lgamma, log, sqrt
from operator import mul

from steelyard.analysis.comparison.comparison_results import Independence
from steelyard.analysis.intervals.mean import mean_of
from steelyard.core.trial_columns import MANY

# Fewer values than this cannot show dependence at the 1 % level, however strong.
FEWEST_VALUES = 8
_SHOWN_LAGS = 25
# Hyndman and Athanasopoulos, Forecasting: Principles and Practice (3rd ed.), section 5.4:
# 10 lags for data that are not seasonal, at most a fifth of the values.
_TESTED_LAGS = 10
# Above it the trend is looked for in the means of as many groups of neighbours.
MOST_RANKED = 8192


def independence(values: Sequence[float]) -> Independence | None:
    """Tests of a sequence in the order of its making.

    Returns
    -------
    Independence or None
        None for fewer than 3 values or when all are alike.

    Notes
    -----
    The bound of the autocorrelation is 1.96 / sqrt(n) (Bartlett); the portmanteau test is
    Ljung and Box's, the trend test Mann and Kendall's.
    """
    count = len(values)
    if count < 3:
        return None
    tested = max(1, min(_TESTED_LAGS, count // 5))
    correlations = autocorrelation(values, max(tested, min(_SHOWN_LAGS, count // 4)))
    if correlations is None:
        return None
    enough = count >= FEWEST_VALUES
    return Independence(
        autocorrelation=correlations,
        bound=1.96 / sqrt(count),
        dependence_p=ljung_box(correlations[:tested], count) if enough else None,
        trend_p=mann_kendall(values) if enough else None,
    )


def autocorrelation(values: Sequence[float], lag_count: int) -> tuple[float, ...] | None:
    """The autocorrelation of lags 1 ... `lag_count`; None when all values are alike.

    Box, Jenkins and Reinsel, Time Series Analysis, section 2.1.5: autocovariances over n.
    """
    mean = mean_of(values)
    if len(values) >= MANY:
        return _autocorrelation_of_many(values, mean, lag_count)
    deviations = [value - mean for value in values]
    total = fsum(map(mul, deviations, deviations))
    # Below it, all that varies is the rounding of the values themselves.
    if not total > len(values) * (1e-15 * mean) ** 2:
        return None
    return tuple(
        sum(map(mul, deviations, deviations[lag:])) / total for lag in range(1, lag_count + 1)
    )


def _autocorrelation_of_many(
    values: Sequence[float], mean: float, lag_count: int
) -> tuple[float, ...] | None:
    import numpy as np

    deviations = np.asarray(values, dtype=np.float64) - mean
    # Not by BLAS, whose threads wait for each other on a busy machine.
    total = float(np.einsum("i,i->", deviations, deviations))
    if not total > len(values) * (1e-15 * mean) ** 2:
        return None
    return tuple(
        float(np.einsum("i,i->", deviations[:-lag], deviations[lag:])) / total
        for lag in range(1, lag_count + 1)
    )


def ljung_box(correlations: Sequence[float], count: int) -> float:
    """The p value of independence from the first autocorrelations of `count` values.

    Ljung and Box, Biometrika 65 (1978) 297: ``n (n + 2) sum r_k^2 / (n - k)`` against
    chi-squared with as many degrees of freedom as lags.
    """
    statistic = (
        count
        * (count + 2)
        * fsum(r * r / (count - lag) for lag, r in enumerate(correlations, start=1))
    )
    return chi_squared_tail(statistic, len(correlations))


def mann_kendall(values: Sequence[float]) -> float:
    """The p value of no monotonic trend, two-sided.

    Mann, Econometrica 13 (1945) 245, and Kendall, Rank Correlation Methods: normal
    approximation with the variance corrected for ties and the continuity correction. Above
    8,192 values the test is of the means of that many groups of neighbours, which are independent
    of each other where the values are, and have the trend that the values have.
    """
    rising_score = _rising_score_of_many if len(values) >= MANY else _rising_score
    if len(values) > MOST_RANKED:
        values = _group_means(values, MOST_RANKED)
    count = len(values)
    score = rising_score(values)
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(values).values() if t > 1)
    variance = (count * (count - 1) * (2 * count + 5) - ties) / 18
    if variance <= 0 or score == 0:
        return 1.0
    return erfc((abs(score) - 1) / sqrt(variance) / sqrt(2.0))


def _rising_score(values: Sequence[float]) -> int:
    """How many pairs of values rise, less those that fall."""
    seen: list[float] = []
    score = 0
    for value in values:
        below = bisect_left(seen, value)
        tied = below < len(seen) and seen[below] == value
        above = bisect_right(seen, value, below) if tied else below
        score += below + above - len(seen)
        seen.insert(below, value)
    return score


def _rising_score_of_many(values: Sequence[float]) -> int:
    """The same by merging sorted blocks: each level counts the pairs that fall between two."""
    import numpy as np

    _, ranks, tied = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    count = len(ranks)
    size = 1 << (count - 1).bit_length()
    # What fills the last block is above all ranks, and adds no pair that falls.
    blocks = np.full(size, size)
    blocks[:count] = ranks
    falling, width = 0, 1
    while width < size:
        pairs = blocks.reshape(-1, 2, width)
        apart = (size + 1) * np.arange(len(pairs))[:, np.newaxis]
        earlier, later = ((pairs[:, side] + apart).ravel() for side in (0, 1))
        not_above = np.searchsorted(earlier, later, side="right")
        ends = width * np.arange(1, len(pairs) + 1)
        falling += int((ends.repeat(width) - not_above).sum())
        width *= 2
        blocks = np.sort(blocks.reshape(-1, width), axis=1)
    equal = int((tied * (tied - 1)).sum()) // 2
    return count * (count - 1) // 2 - equal - 2 * falling


def _group_means(values: Sequence[float], group_count: int) -> list[float]:
    """The means of groups of neighbours, alike in size up to one value."""
    ends = [len(values) * place // group_count for place in range(group_count + 1)]
    if len(values) >= MANY:
        import numpy as np

        sums = np.add.reduceat(np.asarray(values, dtype=np.float64), ends[:-1])
        return (sums / np.diff(ends)).tolist()
    return [fsum(values[start:end]) / (end - start) for start, end in pairwise(ends)]


def chi_squared_tail(statistic: float, degrees: int) -> float:
    """The probability that chi-squared with whole `degrees` exceeds `statistic`.

    Abramowitz and Stegun 26.4.4 and 26.4.5: finite sums, exact.
    """
    if statistic <= 0:
        return 1.0
    half = statistic / 2
    start = 0.5 if degrees % 2 else 0.0
    tail = erfc(sqrt(half)) if degrees % 2 else 0.0
    terms = degrees // 2
    return tail + fsum(
        exp((start + k) * log(half) - half - lgamma(start + k + 1.0)) for k in range(terms)
    )
