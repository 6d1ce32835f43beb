"""From an interval of a ratio to one word, and to what an undecided one still needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt

from steelyard.analysis.comparison.comparison_results import Sign, Verdict
from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.experiment_spec import Direction

# The customary power: with so many blocks more, 80 of 100 repetitions would be decided.
_POWER = 0.8
_MOST_FURTHER_BLOCKS = 1_000_000
# A confidence sequence has no bounds at fewer.
_FEWEST_FORESEEN = 12


@dataclass(frozen=True)
class Quantiles:
    """How many standard errors an interval reaches: now, and after a number of blocks in all."""

    now: float
    after: Callable[[int], float]


def decide(ratio: Interval, margin_ratio: float, direction: Direction) -> Verdict:
    """The verdict on a candidate.

    Parameters
    ----------
    ratio : Interval
        Candidate / baseline.
    margin_ratio : float
        Differences up to this do not matter: the whole interval within 1 +- margin is
        ``equivalent``, even where it excludes 1; the whole interval beyond it on one side is
        ``faster`` or ``slower``. An interval over an end of the margin is ``undecided``.
    direction : "lower" or "higher"
        Which of the metric is better. ``faster`` means better, ``slower`` worse.

    Returns
    -------
    Verdict
        An interval without bounds is always ``undecided``.

    Notes
    -----
    The rule of an interval against a region of practical equivalence: Kruschke, Advances in
    Methods and Practices in Psychological Science 1 (2018) 270. A true difference inside the
    margin is called ``faster`` or ``slower`` only where the interval misses the truth.
    """
    if not isinstance(ratio, Estimate):
        return "undecided"
    if ratio.low >= 1.0 - margin_ratio and ratio.high <= 1.0 + margin_ratio:
        return "equivalent"
    if ratio.high < 1.0 - margin_ratio:
        return "faster" if direction == "lower" else "slower"
    if ratio.low > 1.0 + margin_ratio:
        return "slower" if direction == "lower" else "faster"
    return "undecided"


def sign(ratio: Interval, direction: Direction) -> Sign:
    """Which is better, by however little.

    Parameters
    ----------
    ratio : Interval
        Candidate / baseline.
    direction : "lower" or "higher"
        Which of the metric is better.

    Returns
    -------
    "faster", "slower" or "unclear"
        By the side of 1 on which the whole interval lies.
    """
    found = decide(ratio, 0.0, direction)
    return found if found in ("faster", "slower") else "unclear"


def further_blocks(
    ratio: Interval, block_count: int, margin_ratio: float, quantiles: Quantiles
) -> int | None:
    """Blocks after the present ones that would decide an undecided verdict.

    Parameters
    ----------
    ratio : Interval
        As it is now, from `block_count` blocks.
    margin_ratio : float
    quantiles : Quantiles
        Of the interval now, and of the one after a number of blocks.

    Returns
    -------
    int or None
        None where it cannot be told: no bounds yet, or more than a million.

    Notes
    -----
    The estimate is taken for the truth. The verdict is decided when the interval lies clear of
    the nearer end of the margin: within ``||r - 1| - margin|`` of the estimate. With
    ``(q + z) s <= distance``, z the normal quantile of the power, that happens in 80 of 100
    repetitions.
    """
    if not isinstance(ratio, Estimate) or block_count < 2:
        return None
    distance = abs(abs(ratio.estimate - 1.0) - margin_ratio)
    if distance <= 0.0:
        return None
    deviation = ratio.half_width / quantiles.now * sqrt(block_count)
    most = block_count + _MOST_FURTHER_BLOCKS
    needed = float(block_count)
    for _ in range(8):
        then = quantiles.after(max(_FEWEST_FORESEEN, round(needed)))
        needed = ((then + normal_quantile(_POWER)) * deviation / distance) ** 2
        if needed > most:
            return None
    return max(1, ceil(needed) - block_count)
