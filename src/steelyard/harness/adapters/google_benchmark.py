"""Google Benchmark's JSON (``--benchmark_format=json``, ``--benchmark_out``).

Each repetition is one iteration: its value is the mean over the inner loop. Fields as in
docs/user_guide.md and src/json_reporter.cc of google/benchmark, 1.7.1.
"""

from __future__ import annotations

import math
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Metric, Series, Source
from steelyard.harness.json_text import json_value
from steelyard.harness.quantities import SECONDS

TIMES = {"real_time": ITERATION_TIME, "cpu_time": "iteration_cpu_time"}
RATES = {"bytes_per_second": "bytes/s", "items_per_second": "1/s"}
NOT_COUNTERS = {
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "time_unit",
    "label",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "aggregate_name",
    "aggregate_unit",
    *TIMES,
}
# Set by our own export, which keeps several executions and its metrics apart; Google Benchmark's
# tools ignore them.
EXECUTION = "steelyard_execution"
TIME_NAMES = {"real_time": "steelyard_real_time", "cpu_time": "steelyard_cpu_time"}


def recognises(text: str) -> bool:
    """Whether it is an object with ``context`` and ``benchmarks``."""
    told = '"num_cpus"' in text or '"real_time"' in text
    return told and '"context"' in text and '"benchmarks"' in text


def read(source: Source) -> tuple[Series, ...]:
    """The repetitions of each benchmark; rows of aggregates are passed over."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    rows = fields.sequence(fields.required(document, "benchmarks", ""), "benchmarks")
    context = fields.mapping(document.get("context", {}), "context")
    names = {
        theirs: fields.text(context.get(key, TIMES[theirs]), f"context.{key}")
        for theirs, key in TIME_NAMES.items()
    }
    reader = _Reader(fields, names)
    for index, item in enumerate(rows):
        where = f"benchmarks[{index}]"
        row = fields.mapping(item, where)
        if not _is_aggregate(row):
            reader.add(row, where)
    if not reader.found and not reader.errors:
        hint = " but aggregates: run it without --benchmark_report_aggregates_only" if rows else ""
        raise DataError(f"{source.name} holds no benchmark{hint}.", field="benchmarks")
    return reader.series()


def _is_aggregate(row: dict[str, Any]) -> bool:
    """Files from before version 1.5 have no ``run_type``, but a suffix."""
    if "run_type" in row:
        return row["run_type"] == "aggregate"
    return str(row.get("name", "")).endswith(("_mean", "_median", "_stddev", "_cv"))


def exact_name(time: str) -> str:
    """Where Steelyard's own files have a time in seconds, with all its digits; null: unmeasured."""
    return f"steelyard_{time}_s"


class _Reader:
    """Gathers rows by benchmark, execution and metric."""

    def __init__(self, fields: FieldReader, times: dict[str, str]) -> None:
        self.fields = fields
        self.times = times
        self.found: dict[tuple[str, int, str], list[float]] = {}
        self.units: dict[str, tuple[str, Direction]] = {}
        self.errors: dict[str, str] = {}
        self.faults: dict[tuple[str, int, str], str] = {}

    def add(self, row: dict[str, Any], where: str) -> None:
        """Take one repetition."""
        fields = self.fields
        given = row.get("run_name", fields.required(row, "name", where))
        name = fields.text(given, f"{where}.name")
        if row.get("error_occurred") is True or row.get("skipped"):
            message = row.get("error_message") or row.get("skip_message") or "skipped"
            self.errors[name] = str(message)
            return
        execution = fields.whole(row.get(EXECUTION, 0), f"{where}.{EXECUTION}")
        unit = fields.required(row, "time_unit", where)
        factor = SECONDS[fields.choice(unit, f"{where}.time_unit", list(SECONDS))]
        for theirs, ours in self.times.items():
            exact = exact_name(theirs)
            if exact in row:
                if row[exact] is not None:
                    value_s = fields.number(row[exact], f"{where}.{exact}")
                    self._keep((name, execution, ours), value_s, ("s", "lower"))
            elif theirs in row or theirs == "real_time":
                value = fields.required(row, theirs, where)
                value_s = fields.number(value, f"{where}.{theirs}") * factor
                self._keep((name, execution, ours), value_s, ("s", "lower"))
        for counter, value in row.items():
            if counter not in NOT_COUNTERS and not counter.startswith("steelyard_"):
                self._count((name, execution, counter), value, f"{where}.{counter}")

    def _count(self, key: tuple[str, int, str], value: Any, where: str) -> None:
        """Keep a counter. A rate of nothing is NaN: that tells nothing of the time beside it."""
        counter = key[2]
        number = math.nan
        if isinstance(value, float) and not math.isfinite(value):
            fault = self.fields.error(where, "a finite number", value)
            self.faults.setdefault(key, fault.message)
        else:
            number = self.fields.finite(value, where)
        direction = "higher" if counter in RATES else "lower"
        self._keep(key, number, (RATES.get(counter, "count"), direction))

    def _keep(self, key: tuple[str, int, str], value: float, about: tuple[str, Any]) -> None:
        self.found.setdefault(key, []).append(value)
        self.units[key[2]] = about

    def series(self) -> tuple[Series, ...]:
        """What was gathered, and an empty series for each benchmark that only failed."""
        made = [
            Series(
                name,
                metric,
                self.units[metric][0],
                () if (name, execution, metric) in self.faults else tuple(values),
                direction=self.units[metric][1],
                execution=execution,
                error=self.errors.get(name),
                fault=self.faults.get((name, execution, metric)),
            )
            for (name, execution, metric), values in self.found.items()
        ]
        known = {item.benchmark for item in made}
        failed = [
            Series(name, self.times["real_time"], "s", (), error=error)
            for name, error in self.errors.items()
            if name not in known
        ]
        return (*made, *failed)


EXTENSION = Adapter(
    name="google-benchmark",
    harness="Google Benchmark",
    description="Its JSON; each repetition is an iteration, counters are metrics by their names.",
    recognises=recognises,
    read=read,
    metrics=(
        Metric(ITERATION_TIME, "s"),
        Metric("iteration_cpu_time", "s"),
        Metric("bytes_per_second", "bytes/s", "higher"),
        Metric("items_per_second", "1/s", "higher"),
    ),
)
