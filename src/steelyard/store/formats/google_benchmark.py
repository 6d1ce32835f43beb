"""Google Benchmark's JSON: read by its adapter, and written for its tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.harness.adapter import ITERATION_TIME
from steelyard.harness.adapters.google_benchmark import EXECUTION, TIME_NAMES, exact_name
from steelyard.store.exported_trials import (
    cautions_of,
    host_of,
    kept_trials,
    level_cautions,
    time_metric,
)
from steelyard.store.file_format import write_json_file
from steelyard.store.harness_experiment import harness_format

NANOSECONDS = 1e9
CPU_TIMES = {"wall_time": "cpu_time", ITERATION_TIME: "iteration_cpu_time"}


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write a row for each iteration of each execution, in nanoseconds.

    compare.py prints times without decimals, takes no two files of different units, and reads no
    row without a CPU time, which is 0 where nobody measured it. The seconds stand beside them, with
    all their digits.

    Raises
    ------
    DataError
        No trial has a time.
    """
    metric = time_metric(experiment, "Google Benchmark's format").name
    cpu_metric = CPU_TIMES.get(metric, "cpu_time")
    created = datetime.fromtimestamp(experiment.created_unix_s, UTC)
    names = dict(zip(TIME_NAMES.values(), (metric, cpu_metric), strict=True))
    host = host_of(experiment)
    context: dict[str, Any] = {
        "date": created.isoformat(timespec="seconds"),
        "host_name": str(host.get("hostname", "")),
        "executable": "steelyard",
        "num_cpus": host.get("cpu_count", 0),
        "steelyard_experiment": experiment.spec.identifier,
        **names,
    }
    rows: list[dict[str, Any]] = []
    for index, variant in enumerate(experiment.spec.variants):
        trials = kept_trials(experiment, index, metric)
        own = [row for number, trial in enumerate(trials) for row in _rows(trial, number, names)]
        for repetition, row in enumerate(own):
            about = {"repetitions": len(own), "repetition_index": repetition, "threads": 1}
            rows.append({"name": variant.name, "run_name": variant.name, **about, **row})
    write_json_file({"context": context, "benchmarks": rows}, path, indent=2)
    what = "Google Benchmark's format"
    held = {metric, cpu_metric}
    return [*cautions_of(experiment, what, held), *level_cautions(experiment, what)]


def _rows(trial: Trial, execution: int, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    wall, cpu = (trial.measurements.get(name, ()) for name in names.values())
    for index, value in enumerate(wall):
        cpu_s = cpu[index] if len(cpu) == len(wall) else None
        yield {
            "run_type": "iteration",
            "iterations": 1,
            "real_time": value * NANOSECONDS,
            "cpu_time": 0.0 if cpu_s is None else cpu_s * NANOSECONDS,
            "time_unit": "ns",
            EXECUTION: execution,
            exact_name("real_time"): value,
            exact_name("cpu_time"): cpu_s,
        }


EXTENSION = harness_format(
    "google-benchmark",
    suffixes=(".googlebench.json",),
    description="Google Benchmark's JSON: a variant a benchmark, an iteration a repetition.",
    write=write,
)
