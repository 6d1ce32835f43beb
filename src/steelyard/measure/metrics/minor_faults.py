"""Page faults that needed no input."""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="minor_faults",
    unit="count",
    description="Page faults that needed no input.",
    value=rusage_value("minor_faults"),
)
