"""Page faults that had to read from a device."""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="major_faults",
    unit="count",
    description="Page faults that had to read from a device.",
    value=rusage_value("major_faults"),
)
