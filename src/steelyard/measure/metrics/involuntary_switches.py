"""Context switches because something else was to run."""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="involuntary_switches",
    unit="count",
    description="Context switches because something else was to run.",
    value=rusage_value("involuntary_switches"),
)
