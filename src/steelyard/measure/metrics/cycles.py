"""CPU cycles from execve on, in user mode and, where permitted, in the kernel."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="cycles",
    unit="count",
    description="CPU cycles from execve on, in user mode and, where permitted, in the kernel.",
    value=counter_value("cycles"),
    counter="cycles",
)
