"""hyperfine's JSON: reads both schemas, writes schema 1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.field_reader import FieldReader
from steelyard.store.exported_trials import level_cautions
from steelyard.store.file_format import FileFormat, read_json, write_json_file
from steelyard.store.hyperfine_experiments import (
    METRICS,
    Result,
    metrics_of,
    read_result_1,
    read_result_2,
    result_object_1,
    results_of,
    trials_of,
)
from steelyard.store.imported_experiments import (
    file_source,
    imported_experiment,
    imported_variant,
    unique_names,
)

# Of these schema 1 has a place.
METRICS_1 = ("wall_time", "user_time", "system_time", "max_rss")
# What others' objects with `results` have: Steelyard's documents, Renaissance, asv, nanobench.
NOT_OURS = (b'"epochs"', b'"steelyard/1"', b'"duration_ns"', b'"result_columns"')


def sniff(head: bytes) -> bool:
    """Whether a file is an object with ``results`` and not that of another tool."""
    start = head.lstrip()
    is_other = any(mark in start for mark in NOT_OURS)
    return start.startswith(b"{") and b'"results"' in start and not is_other


def read(path: str) -> Experiment:
    """The results of one file as an experiment: a variant a command, a trial a run.

    A run with an exit code other than 0 is a failed trial. hyperfine runs one command after the
    other, so that nothing pairs the runs of two commands.
    """
    fields = FieldReader(path)
    document = fields.mapping(read_json(path), "the top level")
    schema = document.get("schema_version", 1)
    readers = {1: read_result_1, 2: read_result_2}
    read_result = readers[fields.choice(schema, "schema_version", list(readers))]
    items = fields.sequence(fields.required(document, "results", ""), "results")
    results = [read_result(fields, item, f"results[{i}]") for i, item in enumerate(items)]
    results.sort(key=lambda result: not result.reference)
    source = file_source(path, f"hyperfine, schema {schema}")
    metadata = fields.mapping(document.get("metadata", {}), "metadata")
    started = metadata.get("start_time")
    if started is not None:
        source["created_unix_s"] = _unix_s(fields, started)
    theirs = fields.text(document.get("primary_metric") or "", "primary_metric")
    primary = METRICS.get(theirs, ("wall_time", "s"))[0]
    source |= {"metadata": metadata, "results": [result.extra for result in results]}
    names = unique_names([result.name for result in results])
    return imported_experiment(
        source,
        [imported_variant(n, r.parameters) for n, r in zip(names, results, strict=True)],
        metrics_of(results, primary),
        trials_of(results, source["created_unix_s"]),
        order="sequential",
    )


def _unix_s(fields: FieldReader, started: Any) -> float:
    try:
        return datetime.fromisoformat(fields.text(started, "metadata.start_time")).timestamp()
    except ValueError:
        raise fields.error("metadata.start_time", "a date and time", started) from None


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write schema 1, which every hyperfine's scripts read."""
    results, cautions = exportable_results(experiment, result_object_1, METRICS_1)
    write_json_file({"results": results}, path, indent=2)
    return cautions


def exportable_results(
    experiment: Experiment, build: Callable[[Result], dict[str, Any]], known: Collection[str]
) -> tuple[list[dict[str, Any]], list[Caution]]:
    """The results of those variants that have a run that succeeded, and what is left out: failed
    trials, and the metrics that are not `known`.

    Raises
    ------
    DataError
        No variant has one.
    """
    found = [result for result in results_of(experiment) if result.runs]
    if not found:
        raise DataError(
            f"The experiment {experiment.spec.identifier} has no successful trial with a "
            "wall_time, so hyperfine's format has nothing to hold.",
            field="experiment",
        )
    cautions: list[Caution] = []
    failed = sum(t.status == "failed" and not t.warmup for t in experiment.trials)
    if failed:
        message = f"{failed} failed trials are left out: hyperfine's format has no place for them."
        cautions.append(Caution("failed-left-out", message))
    other = [metric.name for metric in experiment.spec.metrics if metric.name not in known]
    if other:
        names = ", ".join(other)
        message = f"hyperfine's format has no place for these metrics: {names}."
        cautions.append(Caution("metrics-left-out", message))
    cautions += level_cautions(experiment, "hyperfine's format")
    return [build(result) for result in found], cautions


EXTENSION = FileFormat(
    name="hyperfine",
    suffixes=(".hyperfine.json",),
    description="hyperfine's JSON: both schemas are read, schema 1 is written.",
    sniff=sniff,
    read=read,
    write=write,
)
