"""What it would take to reach the precision at which an experiment was to stop."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.analysis.comparison.comparison_results import FurtherPrecision
from steelyard.analysis.comparison.stopping import blocks_for
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.stopping_spec import StoppingSpec


def further_precision(
    intervals: Iterable[tuple[Interval, int]],
    stopping: StoppingSpec,
    block_cost_s: float,
    *,
    relative: bool,
) -> FurtherPrecision | None:
    """The further blocks that every interval is likely to need.

    Parameters
    ----------
    intervals : iterable of (Interval, int)
        Each with the blocks that it rests on.
    stopping : StoppingSpec
        Its precision is what is to be reached.
    block_cost_s : float
        Mean cost of a block.
    relative : bool
        Whether half-widths are taken relative to the estimate, as those of means are.

    Returns
    -------
    FurtherPrecision or None
        None where an interval has no bounds, or needs more blocks than ten million.
    """
    most = 0
    for interval, count in intervals:
        if not isinstance(interval, Estimate) or count < 2:
            return None
        scale = abs(interval.estimate) if relative else 1.0
        if not scale:
            return None
        wanted = stopping.precision_ratio
        needed = blocks_for(interval.half_width / scale, count, wanted, interval.confidence)
        if needed is None:
            return None
        most = max(most, needed - count)
    if most <= 0:
        return None
    return FurtherPrecision(stopping.precision_ratio, most, most * block_cost_s)
