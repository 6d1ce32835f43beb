"""Page faults, minor and major, counted from execve on."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="page_faults",
    unit="count",
    description="Page faults, minor and major, counted from execve on.",
    value=counter_value("page-faults"),
    counter="page-faults",
)
