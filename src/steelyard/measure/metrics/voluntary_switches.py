"""Context switches because the program waited for something."""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="voluntary_switches",
    unit="count",
    description="Context switches because the program waited for something.",
    value=rusage_value("voluntary_switches"),
)
