"""What every metric must do, whoever brings it."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.measure.metric import Metric
from steelyard.measure.metrics import METRICS

RECORD: dict[str, Any] = {
    "wall_ns": 2_000_000_000,
    "rusage": {
        "user_us": 1_000_000,
        "system_us": 500_000,
        "max_rss_kib": 3,
        "minor_faults": 4,
        "major_faults": 5,
        "voluntary_switches": 6,
        "involuntary_switches": 7,
        "blocks_in": 8,
        "blocks_out": 9,
    },
    "counters": {
        name: {"value": 10_000_000_000, "enabled_ns": 1, "running_ns": 1}
        for name in (
            "cycles",
            "instructions",
            "cache-misses",
            "branch-misses",
            "page-faults",
            "context-switches",
            "task-clock",
        )
    },
}
EXPECTED = {
    "wall_time": (2.0, "s"),
    "user_time": (1.0, "s"),
    "system_time": (0.5, "s"),
    "cpu_time": (1.5, "s"),
    "max_rss": (3072.0, "bytes"),
    "minor_faults": (4.0, "count"),
    "major_faults": (5.0, "count"),
    "voluntary_switches": (6.0, "count"),
    "involuntary_switches": (7.0, "count"),
    "cycles": (1e10, "count"),
    "instructions": (1e10, "count"),
    "cache_misses": (1e10, "count"),
    "branch_misses": (1e10, "count"),
    "page_faults": (1e10, "count"),
    "context_switches": (1e10, "count"),
    "task_clock": (10.0, "s"),
}

every_metric = pytest.mark.parametrize("metric", tuple(METRICS), ids=lambda metric: metric.name)


def test_the_metrics_of_the_launcher_are_registered() -> None:
    assert set(EXPECTED) <= set(METRICS.names())


@every_metric
def test_it_has_a_name_a_unit_a_direction_and_a_description(metric: Metric) -> None:
    assert metric.name.isidentifier()
    assert metric.name == metric.name.lower()
    assert metric.unit
    assert metric.direction in ("lower", "higher")
    assert metric.description.endswith(".")


@every_metric
def test_it_gives_a_float_or_none(metric: Metric) -> None:
    value = metric.value(RECORD)
    assert value is None or float(value) == value


@every_metric
def test_a_program_that_was_not_run_has_no_value_and_not_zero(metric: Metric) -> None:
    assert metric.value({"wall_ns": None, "rusage": None, "counters": None}) is None
    assert metric.value({}) is None


@pytest.mark.parametrize(
    "metric", [metric for metric in METRICS if metric.counter], ids=lambda metric: metric.name
)
def test_a_counter_that_the_machine_lacks_has_no_value_and_not_zero(metric: Metric) -> None:
    assert metric.value({**RECORD, "counters": {metric.counter: None}}) is None
    assert metric.value({**RECORD, "counters": {}}) is None


@pytest.mark.parametrize("name", EXPECTED)
def test_values_are_converted_to_the_unit(name: str) -> None:
    metric = METRICS.get(name)
    assert (metric.value(RECORD), metric.unit) == EXPECTED[name]
