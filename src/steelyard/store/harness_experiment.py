"""What a harness wrote as an experiment: a variant a benchmark, a trial an execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import MetricSpec, Variant
from steelyard.harness.adapter import ITERATION_TIME, Series, Source, read_series, text_of
from steelyard.harness.adapters import ADAPTERS
from steelyard.store.file_format import FileFormat, WriteFile, file_errors
from steelyard.store.imported_experiments import (
    file_source,
    imported_experiment,
    imported_variant,
    unique_names,
)

Key = tuple[str, int]


def harness_format(
    name: str,
    suffixes: tuple[str, ...],
    description: str,
    write: WriteFile | None = None,
) -> FileFormat:
    """The file format whose files the adapter `name` reads."""
    adapter = ADAPTERS.get(name)

    def sniff(head: bytes) -> bool:
        return adapter.recognises(text_of(head))

    return FileFormat(name, suffixes, description, sniff, reader_for(name), write)


def reader_for(name: str) -> Callable[[str], Experiment]:
    """A reader of files by the adapter `name`."""

    def read(path: str) -> Experiment:
        with file_errors(path, "read"), open(path, "rb", opener=regular_opener) as file:
            text = text_of(file.read())
        series = read_series(ADAPTERS.get(name), Source(text, path), ADAPTERS)
        return experiment_of(series, path, name)

    return read


def experiment_of(series: Sequence[Series], path: str, name: str) -> Experiment:
    """The experiment of all series of one file.

    A harness runs one benchmark after the other, so that nothing pairs their executions: the
    order is ``sequential``. Several benchmarks are measured, not compared: nobody asks whether one
    is faster than another. Iterations that the harness calls warm-up are kept in the details of
    their trial, under ``warmup_iterations``.

    Raises
    ------
    DataError
        One metric has two units.
    """
    source = file_source(path, name)
    benchmarks = list(dict.fromkeys(item.benchmark for item in series))
    grouped: dict[Key, list[Series]] = {}
    for item in series:
        grouped.setdefault((item.benchmark, item.execution), []).append(item)
    place_of = {benchmark: place for place, benchmark in enumerate(benchmarks)}
    trials = [
        _trial(position, place_of[benchmark], items, source["created_unix_s"])
        for position, ((benchmark, _), items) in enumerate(grouped.items())
    ]
    return imported_experiment(
        source, _variants(benchmarks), _metrics(series, path), trials, order="sequential"
    )


def left_out(experiment: Experiment) -> list[Caution]:
    """What of the harness's file could not be used, a caution a metric."""
    faults: dict[str, list[str]] = {}
    for trial in experiment.trials:
        unusable = trial.details.get("unusable")
        if isinstance(unusable, dict):
            for metric, fault in unusable.items():
                faults.setdefault(metric, []).append(fault)
    return [
        Caution(
            "metrics-left-out",
            f"{metric} is left out of {len(told)} execution{'s'[: len(told) > 1]}. {told[0]}",
        )
        for metric, told in faults.items()
    ]


def _variants(benchmarks: Sequence[str]) -> list[Variant]:
    names = unique_names([benchmark or "benchmark" for benchmark in benchmarks])
    alone = len(names) == 1
    return [imported_variant(name, benchmark="" if alone else name) for name in names]


def _metrics(series: Sequence[Series], path: str) -> list[MetricSpec]:
    """All that can be used somewhere, the time of an iteration first."""
    found: dict[str, MetricSpec] = {}
    for item in series:
        if item.fault is not None:
            continue
        metric = MetricSpec(item.metric, item.unit, item.direction)
        if found.setdefault(item.metric, metric) != metric:
            raise DataError(
                f"{path}: the metric {item.metric!r} of {item.benchmark!r} is in {item.unit!r}, "
                f"and in {found[item.metric].unit!r} of another benchmark. Import them from "
                "files of their own.",
                field=item.metric,
            )
    return sorted(found.values(), key=lambda metric: metric.name != ITERATION_TIME)


def _trial(position: int, variant: int, items: Sequence[Series], created_unix_s: float) -> Trial:
    error = next((item.error for item in items if item.error is not None), None)
    kept = {item.metric: item.values[item.warmup_count :] for item in items}
    warmups = {i.metric: i.values[: i.warmup_count] for i in items if i.warmup_count}
    details: dict[str, object] = {} if error is None else {"error": error}
    faults = {item.metric: item.fault for item in items if item.fault is not None}
    if faults:
        details["unusable"] = faults
    if warmups:
        details["warmup_iterations"] = {name: list(values) for name, values in warmups.items()}
    return Trial(
        position=position,
        block=items[0].execution,
        variant=variant,
        warmup=False,
        status="ok" if error is None else "failed",
        reason=None if error is None else "metric",
        started_unix_s=created_unix_s,
        spent_s=0.0,
        measurements={name: values for name, values in kept.items() if values},
        details=details,
    )
