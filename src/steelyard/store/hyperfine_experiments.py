"""hyperfine's JSON as experiments and back, without regard to files.

Schema 1 has a list ``times`` for each result and no version in the file; schema 2, of newer
hyperfines, has an object for each run, whose quantities carry their units. Both from hyperfine's
sources: src/export/json.rs, src/benchmark/measurement.rs and the snapshots of its tests.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.core.experiment_results import Experiment, FailureReason, Trial
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.field_reader import FieldReader

# hyperfine's name of a metric in schema 2: ours and its unit.
METRICS = {
    "time_wall_clock": ("wall_time", "s"),
    "time_cpu": ("cpu_time", "s"),
    "time_user": ("user_time", "s"),
    "time_system": ("system_time", "s"),
    "memory_peak_resident": ("max_rss", "bytes"),
    "cpu_cycles": ("cycles", "count"),
    "instructions": ("instructions", "count"),
    "cache_references": ("cache_references", "count"),
    "cache_misses": ("cache_misses", "count"),
    "branch_misses": ("branch_misses", "count"),
}
UNIT_WORDS = {"s": "second", "bytes": "byte"}
_UNIT_FACTORS = {
    "s": {"second": 1.0, "millisecond": 1e-3, "microsecond": 1e-6},
    "bytes": {"byte": 1.0, "kibibyte": 2.0**10, "mebibyte": 2.0**20, "gibibyte": 2.0**30},
    "count": {None: 1.0, "count": 1.0},
}


@dataclass
class Run:
    """One execution: its values by our names of the metrics, and how it ended."""

    values: dict[str, float]
    exit_code: int | None = 0

    @property
    def reason(self) -> FailureReason | None:
        """Why it failed; hyperfine has no exit code for what a signal ended."""
        if self.exit_code == 0:
            return None
        return "signal" if self.exit_code is None else "exit"


@dataclass
class Result:
    """One command with its runs; `extra` is what else the file says of it."""

    name: str
    runs: list[Run]
    parameters: dict[str, str] = field(default_factory=dict)
    reference: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def read_result_1(fields: FieldReader, data: Any, where: str) -> Result:
    """A result of schema 1."""
    result = fields.mapping(data, where)
    name = fields.text(fields.required(result, "command", where), f"{where}.command")
    times = fields.sequence(fields.required(result, "times", where), f"{where}.times")
    codes = _aligned(fields, result, "exit_codes", where, len(times))
    memory = _aligned(fields, result, "memory_usage_byte", where, len(times))
    runs = []
    for index, time_s in enumerate(times):
        values = {"wall_time": fields.number(time_s, f"{where}.times[{index}]")}
        if memory is not None:
            place = f"{where}.memory_usage_byte[{index}]"
            values["max_rss"] = fields.number(memory[index], place)
        code = 0 if codes is None else codes[index]
        runs.append(Run(values, _exit_code(fields, code, f"{where}.exit_codes[{index}]")))
    summary = {key: result[key] for key in ("mean", "user", "system") if key in result}
    return Result(name, runs, _parameters(fields, result, where), extra=summary)


def read_result_2(fields: FieldReader, data: Any, where: str) -> Result:
    """A result of schema 2."""
    result = fields.mapping(data, where)
    command = fields.text(fields.required(result, "command", where), f"{where}.command")
    name = fields.text(result.get("name", command), f"{where}.name")
    place = f"{where}.measurements"
    items = fields.sequence(fields.required(result, "measurements", where), place)
    runs = [_read_run(fields, item, f"{place}[{index}]") for index, item in enumerate(items)]
    return Result(
        name,
        runs,
        _parameters(fields, result, where),
        reference=result.get("is_reference") is True,
        extra={"command": command},
    )


def _read_run(fields: FieldReader, data: Any, where: str) -> Run:
    run = fields.mapping(data, where)
    fields.required(run, "time_wall_clock", where)
    values = {
        METRICS[name][0]: _quantity(fields, run[name], METRICS[name][1], f"{where}.{name}")
        for name in METRICS
        if run.get(name) is not None or name == "time_wall_clock"
    }
    return Run(values, _exit_code(fields, run.get("exit_code", 0), f"{where}.exit_code"))


def _quantity(fields: FieldReader, data: Any, unit: str, where: str) -> float:
    quantity = fields.mapping(data, where)
    value = fields.number(fields.required(quantity, "value", where), f"{where}.value")
    factors = _UNIT_FACTORS[unit]
    return value * factors[fields.choice(quantity.get("unit"), f"{where}.unit", list(factors))]


def _aligned(
    fields: FieldReader, result: dict[str, Any], name: str, where: str, count: int
) -> list[Any] | None:
    if result.get(name) is None:
        return None
    values = fields.sequence(result[name], f"{where}.{name}")
    if len(values) != count:
        raise fields.error(f"{where}.{name}", f"as long as times ({count})", len(values))
    return values


def _exit_code(fields: FieldReader, code: Any, where: str) -> int | None:
    return None if code is None else fields.whole(code, where)


def _parameters(fields: FieldReader, result: dict[str, Any], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.mapping(
        result.get("parameters") or {}, f"{where}.parameters"
    ).items():
        plain = value.get("value") if isinstance(value, dict) else value
        found[name] = fields.text(plain, f"{where}.parameters.{name}")
    return found


def metrics_of(results: Sequence[Result], primary: str = "wall_time") -> tuple[MetricSpec, ...]:
    """The metrics that any run has, `primary` first."""
    present = {name for result in results for run in result.runs for name in run.values}
    known = [MetricSpec(name, unit) for name, unit in METRICS.values() if name in present]
    return tuple(sorted(known, key=lambda metric: metric.name != primary))


def trials_of(results: Sequence[Result], created_unix_s: float) -> list[Trial]:
    """The runs as trials, one command after the other, each run a block of its own."""
    trials: list[Trial] = []
    for variant, result in enumerate(results):
        for block, run in enumerate(result.runs):
            trials.append(
                Trial(
                    position=len(trials),
                    block=block,
                    variant=variant,
                    warmup=False,
                    status="ok" if run.reason is None else "failed",
                    reason=run.reason,
                    started_unix_s=created_unix_s,
                    spent_s=run.values["wall_time"],
                    measurements={name: (value,) for name, value in run.values.items()},
                    details={"exit_code": run.exit_code},
                )
            )
    return trials


def results_of(experiment: Experiment) -> list[Result]:
    """An experiment's trials that succeeded as results; a trial's iterations by their mean."""
    imported = experiment.provenance.get("imported", {}).get("results", [])
    results: list[Result] = []
    for index, variant in enumerate(experiment.spec.variants):
        runs = [
            Run(_means(trial.measurements), trial.details.get("exit_code", 0))
            for trial in experiment.trials
            if trial.variant == index and trial.status == "ok" and not trial.warmup
        ]
        runs = [run for run in runs if "wall_time" in run.values]
        extra = imported[index] if index < len(imported) else {}
        results.append(Result(variant.name, runs, dict(variant.parameters), extra=extra))
    return results


def _means(measurements: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: math.fsum(v) / len(v) for name, v in measurements.items() if len(v)}


def _mean_of(result: Result, metric: str, imported: str) -> float | None:
    values = [run.values[metric] for run in result.runs if metric in run.values]
    return math.fsum(values) / len(values) if values else result.extra.get(imported)


def result_object_1(result: Result) -> dict[str, Any]:
    """A result as schema 1 has it; user and system are null where nobody measured them."""
    times = [run.values["wall_time"] for run in result.runs]
    document: dict[str, Any] = {
        "command": result.name,
        "mean": statistics.fmean(times),
        "stddev": statistics.stdev(times) if len(times) > 1 else None,
        "median": statistics.median(times),
        "user": _mean_of(result, "user_time", "user"),
        "system": _mean_of(result, "system_time", "system"),
        "min": min(times),
        "max": max(times),
        "times": times,
    }
    if all("max_rss" in run.values for run in result.runs):
        document["memory_usage_byte"] = [round(run.values["max_rss"]) for run in result.runs]
    document["exit_codes"] = [run.exit_code for run in result.runs]
    if result.parameters:
        document["parameters"] = result.parameters
    return document


def result_object_2(result: Result) -> dict[str, Any]:
    """A result as schema 2 has it."""
    document: dict[str, Any] = {
        "command": result.extra.get("command", result.name),
        "measurements": [_run_object(run) for run in result.runs],
    }
    if document["command"] != result.name:
        document["name"] = result.name
    if result.parameters:
        document["parameters"] = {name: {"value": v} for name, v in result.parameters.items()}
    if result.reference:
        document["is_reference"] = True
    document["summary"] = {
        theirs: _summary_object([run.values[ours] for run in result.runs], unit)
        for theirs, (ours, unit) in sorted(METRICS.items())
        if all(ours in run.values for run in result.runs)
    }
    return document


def _run_object(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = {
        theirs: _quantity_object(run.values[ours], unit)
        for theirs, (ours, unit) in METRICS.items()
        if ours in run.values
    }
    return {**document, "exit_code": run.exit_code}


def _quantity_object(value: float, unit: str) -> dict[str, Any]:
    if unit == "count":
        return {"value": round(value)}
    return {"value": value, "unit": UNIT_WORDS[unit]}


def _summary_object(values: Sequence[float], unit: str) -> dict[str, Any]:
    known = {"unit": UNIT_WORDS[unit]} if unit in UNIT_WORDS else {}
    return {
        **known,
        "count": len(values),
        "mean": statistics.fmean(values),
        "stddev": statistics.stdev(values) if len(values) > 1 else None,
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
    }
