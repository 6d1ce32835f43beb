"""Instructions retired from execve on."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="instructions",
    unit="count",
    description="Instructions retired from execve on.",
    value=counter_value("instructions"),
    counter="instructions",
)
