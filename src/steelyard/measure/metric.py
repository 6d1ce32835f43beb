"""What a metric is: a name, a unit, a direction, and where a trial's record holds its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.core.experiment_spec import Direction

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Metric:
    """A metric that the launcher's record of a trial can give.

    Parameters
    ----------
    name : str
        With underscores, as it is asked for and shown.
    unit : str
        ``"s"``, ``"bytes"`` or ``"count"``.
    description : str
        What it says, in one sentence.
    value : callable
        From a record to the value in `unit`, or to None where the machine did not give it.
    direction : str
        Whether ``"lower"`` or ``"higher"`` is better.
    counter : str or None
        The performance counter to open for it, by its name in perf(1).
    """

    name: str
    unit: str
    description: str
    value: Callable[[Record], float | None]
    direction: Direction = "lower"
    counter: str | None = None


def rusage_value(field: str, scale: float = 1.0) -> Callable[[Record], float | None]:
    """A reader of one field of the resource usage, divided by `scale`."""

    def value(record: Record) -> float | None:
        usage = record.get("rusage")
        return None if usage is None else usage[field] / scale

    return value


def counter_value(counter: str, scale: float = 1.0) -> Callable[[Record], float | None]:
    """A reader of one performance counter, divided by `scale`; None where it did not count."""

    def value(record: Record) -> float | None:
        counters = record.get("counters")
        count = None if counters is None else counters.get(counter)
        return None if count is None else count["value"] / scale

    return value
