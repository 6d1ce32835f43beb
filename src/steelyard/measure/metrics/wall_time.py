"""Time from the start of the program to its end."""

from __future__ import annotations

from steelyard.measure.metric import Metric, Record


def _value(record: Record) -> float | None:
    wall_ns = record.get("wall_ns")
    return None if wall_ns is None else wall_ns / 1e9


EXTENSION = Metric(
    name="wall_time",
    unit="s",
    description="Time from execve to the return of wait4, on the monotonic clock.",
    value=_value,
)
