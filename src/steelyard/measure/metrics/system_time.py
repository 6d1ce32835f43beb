"""Time that the kernel spent for the program and the children it waited for."""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="system_time",
    unit="s",
    description="Time that the kernel spent for the program and the children it waited for.",
    value=rusage_value("system_us", 1e6),
)
