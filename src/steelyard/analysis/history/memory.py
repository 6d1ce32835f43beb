"""How much the values of a track remember, and what that does to their means."""

from __future__ import annotations

from math import sqrt

from steelyard.analysis.history.series import Floats

# A memory longer than this cannot be told from a wandering level.
MOST_MEMORY = 0.9


def lag_memory(values: Floats) -> float:
    """The lag-1 correlation of values around their mean, between 0 and `MOST_MEMORY`.

    Notes
    -----
    Without its bias of about -(1 + 3 r) / n (Kendall, Biometrika 41 (1954) 403). 0 below twice its
    standard error, 1 / sqrt(n), so that independent values keep the narrow intervals that they are
    due.
    """
    count = len(values)
    if count < 4:
        return 0.0
    deviations = values - values.mean()
    squares = float(deviations @ deviations)
    if squares <= 0.0:
        return 0.0
    found = float(deviations[1:] @ deviations[:-1]) / squares
    unbiased = found + (1 + 3 * max(0.0, found)) / count
    return min(MOST_MEMORY, unbiased) if unbiased > 2 / sqrt(count) else 0.0


def mean_factor(memory: float, count: int) -> float:
    """What the variance of a mean of `count` values is multiplied by if they remember.

    ``1 + 2 sum_{k=1}^{n-1} (1 - k/n) r^k`` in closed form.
    """
    if memory <= 0.0 or count < 2:
        return 1.0
    rest = 1.0 - memory
    tail = memory * (1.0 - memory**count) / (count * rest * rest)
    return max(1.0, 1.0 + 2.0 * (memory / rest - tail))
