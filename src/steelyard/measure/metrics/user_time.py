"""Time that the program and the children it waited for spent in user mode."""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="user_time",
    unit="s",
    description="Time that the program and the children it waited for spent in user mode.",
    value=rusage_value("user_us", 1e6),
)
