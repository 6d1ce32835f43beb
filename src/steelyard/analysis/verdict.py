"""From an interval of a ratio to one word, and to what an undecided one still needs."""

from __future__ import annotations

from math import ceil, sqrt

from steelyard.analysis.mean import two_sided
from steelyard.analysis.normal import normal_quantile
from steelyard.analysis.results import Verdict
from steelyard.analysis.student import student_quantile
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.model import Direction

# The customary power: with so many blocks more, 80 of 100 repetitions would be decided.
_POWER = 0.8
_MOST_FURTHER_BLOCKS = 1_000_000


def decide(ratio: Interval, margin_ratio: float, direction: Direction) -> Verdict:
    """The verdict on a candidate.

    Parameters
    ----------
    ratio : Interval
        Candidate / baseline.
    margin_ratio : float
        Differences up to this do not matter: the whole interval within 1 +- margin is
        ``equivalent``, even where it excludes 1.
    direction : "lower" or "higher"
        Which of the metric is better. ``faster`` means better, ``slower`` worse.

    Returns
    -------
    Verdict
        An interval without bounds is always ``undecided``.
    """
    if not isinstance(ratio, Estimate):
        return "undecided"
    if ratio.low >= 1.0 - margin_ratio and ratio.high <= 1.0 + margin_ratio:
        return "equivalent"
    if ratio.high < 1.0:
        return "faster" if direction == "lower" else "slower"
    if ratio.low > 1.0:
        return "slower" if direction == "lower" else "faster"
    return "undecided"


def further_blocks(ratio: Interval, block_count: int, margin_ratio: float) -> int | None:
    """Blocks after the present ones that would decide an undecided verdict.

    Parameters
    ----------
    ratio : Interval
        As it is now, from `block_count` blocks.
    margin_ratio : float

    Returns
    -------
    int or None
        None where it cannot be told: no bounds yet, or more than a million.

    Notes
    -----
    The estimate is taken for the truth. The verdict is decided when the interval lies clear of
    1 or inside the margin, whichever comes first: within ``max(|r - 1|, margin - |r - 1|)`` of
    the estimate. With ``(q + z) s <= distance``, z the normal quantile of the power, that
    happens in 80 of 100 repetitions.
    """
    if not isinstance(ratio, Estimate) or block_count < 2:
        return None
    away = abs(ratio.estimate - 1.0)
    distance = max(away, margin_ratio - away)
    if distance <= 0.0:
        return None
    p = two_sided(ratio.confidence)
    now = student_quantile(p, block_count - 1)
    deviation = ratio.half_width / now * sqrt(block_count)
    needed = float(block_count)
    for _ in range(8):
        # A simultaneous or adjusted quantile is in the half-width, so that `now` cancels it.
        then = student_quantile(p, max(1.0, round(needed) - 1.0))
        needed = ((then + normal_quantile(_POWER)) * deviation / distance) ** 2
        if needed > block_count + _MOST_FURTHER_BLOCKS:
            return None
    return max(1, ceil(needed) - block_count)
