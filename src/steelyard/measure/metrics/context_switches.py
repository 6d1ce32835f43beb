"""Context switches, counted from execve on."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="context_switches",
    unit="count",
    description="Context switches, counted from execve on.",
    value=counter_value("context-switches"),
    counter="context-switches",
)
