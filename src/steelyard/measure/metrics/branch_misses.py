"""Mispredicted branches."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="branch_misses",
    unit="count",
    description="Mispredicted branches.",
    value=counter_value("branch-misses"),
    counter="branch-misses",
)
