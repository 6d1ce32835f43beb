"""Time on a CPU of the program and of all that it started, to the nanosecond."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="task_clock",
    unit="s",
    description="Time on a CPU of the program and of all that it started, to the nanosecond.",
    value=counter_value("task-clock", 1e9),
    counter="task-clock",
)
