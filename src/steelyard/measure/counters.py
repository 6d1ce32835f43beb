"""Which performance counters an experiment needs."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.experiment_spec import MetricSpec
from steelyard.measure.metrics import METRICS


def counters_for(metrics: Sequence[MetricSpec]) -> list[str]:
    """The performance counters that `metrics` need, by their names in perf(1)."""
    needed = (METRICS.get(m.name).counter for m in metrics if m.source == "counter")
    return [counter for counter in needed if counter is not None]
