"""Whether a run of base against candidate confirms an alarm."""

from __future__ import annotations

from typing import Literal

from steelyard.core.estimate import Estimate, Interval
from steelyard.core.tracks import Change

ConfirmationVerdict = Literal["confirmed", "refuted", "unclear"]
# A benchmark that was only noisy the first time passes in 5 of a million runs, so that in 1,000
# alarms of that kind none reaches anyone in 99.5 %.
CONFIRMATION_CONFIDENCE = 0.99999
# A change of less than half of what was told is not the one that was told of.
LEAST_PART = 0.5
# What is looked for where an alarm has no size of its own.
USUAL_MARGIN_RATIO = 0.02


def confirmation_margin(change: Change) -> float:
    """The relative difference below which base and candidate count as equal: half of the change."""
    size = change.size.estimate
    if change.kind == "noise" or size is None or size <= 0.0 or size == 1.0:
        return USUAL_MARGIN_RATIO
    return min(0.5, LEAST_PART * abs(size - 1.0))


def confirmation_verdict(change: Change, ratio: Interval) -> ConfirmationVerdict:
    """What the ratio candidate / base says of an alarm's change.

    Parameters
    ----------
    change : Change
        A step, spike or creep; of a change of noise a ratio of means says nothing.
    ratio : Interval
        At `CONFIRMATION_CONFIDENCE`.

    Notes
    -----
    ``"confirmed"`` where the whole interval lies on the change's side of 1 and holds at least half
    of its size; ``"refuted"`` where less than that is left of it.
    """
    if not isinstance(ratio, Estimate) or change.kind == "noise":
        return "unclear"
    size = change.size.estimate
    above = (size or 1.0) > 1.0
    margin = confirmation_margin(change)
    nearest, furthest = (ratio.low, ratio.high) if above else (ratio.high, ratio.low)
    bound = 1.0 + margin if above else 1.0 - margin
    if (furthest < bound) if above else (furthest > bound):
        return "refuted"
    if (nearest > 1.0) if above else (nearest < 1.0):
        return "confirmed"
    return "unclear"
