"""What a running experiment knows so far, in the few words of a live line."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from steelyard.core.estimate import Estimate, Interval
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.units import format_value
from steelyard.report.texts.readable import one_line, ratio_text

# With two runs an interval is so wide that only its middle says something.
FEWEST_FOR_INTERVAL = 3


def look_text(
    metric: MetricSpec, intervals: Sequence[Interval], block_count: int, *, compares: bool
) -> str:
    """The mean with its precision, such as ``wall_time 451.2 ms ± 4.3 %``; of a comparison the
    ratio with its interval, and of several the one whose interval is the widest.

    Parameters
    ----------
    metric : MetricSpec
        What the intervals are of.
    intervals : sequence of Interval
        Of the mean, or of each ratio.
    block_count : int
        Blocks that they rest on; the first two give a value without an interval.
    compares : bool
        Whether they are ratios.

    Returns
    -------
    str
        Empty while there is no value.
    """
    known = [interval for interval in intervals if interval.estimate is not None]
    if not known:
        return ""
    bounded = [interval for interval in known if isinstance(interval, Estimate)]
    if block_count < FEWEST_FOR_INTERVAL or len(bounded) < len(known):
        return _value_text(metric, known[0], compares) if len(known) == 1 else ""
    widest = max(bounded, key=lambda interval: interval.half_width)
    if not compares:
        mean = widest.estimate
        width = f" ± {100 * widest.half_width / abs(mean):.1f} %" if mean else ""
        return _value_text(metric, widest, compares) + width
    if len(bounded) == 1:
        return f"ratio {ratio_text(widest)}"
    return f"{len(bounded)} ratios, the widest ± {100 * widest.half_width:.1f} %"


def _value_text(metric: MetricSpec, interval: Interval, compares: bool) -> str:
    value = interval.estimate
    if value is None or not isfinite(value):
        return ""
    if compares:
        return f"ratio {value:.3f}"
    return f"{one_line(metric.name)} {format_value(value, metric.unit)}"
