"""User and system time together."""

from __future__ import annotations

from steelyard.measure.metric import Metric, Record


def _value(record: Record) -> float | None:
    usage = record.get("rusage")
    return None if usage is None else (usage["user_us"] + usage["system_us"]) / 1e6


EXTENSION = Metric(
    name="cpu_time",
    unit="s",
    description="User and system time of the program and of the children it waited for.",
    value=_value,
)
