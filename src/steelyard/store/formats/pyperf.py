"""pyperf's JSON: read by its adapter, and written for its commands, such as ``compare_to``.

Version 1.0, as in pyperf's documentation ('Benchmark JSON files'): a run is one process with its
values in seconds. pyperf refuses values of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.version import __version__
from steelyard.harness.adapters.pyperf import OWN_METRIC, VERSION
from steelyard.store.exported_trials import (
    cautions_of,
    host_of,
    kept_trials,
    level_cautions,
    time_metric,
)
from steelyard.store.file_format import write_json_file
from steelyard.store.harness_experiment import harness_format

WHAT = "pyperf's format"


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write a benchmark a variant, and a run an execution with its iterations.

    Raises
    ------
    DataError
        No trial has a time above 0.
    """
    metric = time_metric(experiment, WHAT).name
    benchmarks: list[dict[str, Any]] = []
    left_out = 0
    for index, variant in enumerate(experiment.spec.variants):
        trials = kept_trials(experiment, index, metric)
        runs = [_run(trial, metric) for trial in trials if min(trial.measurements[metric]) > 0]
        left_out += len(trials) - len(runs)
        if runs:
            benchmarks.append({"metadata": {"name": variant.name.strip() or "-"}, "runs": runs})
    if not benchmarks:
        raise DataError(f"No trial has a {metric} above 0, which {WHAT} takes.", field="experiment")
    write_json_file({**_about(experiment, metric), "benchmarks": benchmarks}, path, indent=1)
    cautions = [*cautions_of(experiment, WHAT, {metric}), *level_cautions(experiment, WHAT)]
    if left_out:
        message = f"{left_out} trials with a {metric} of 0 are left out: {WHAT} refuses them."
        cautions.append(Caution("zeros-left-out", message))
    return cautions


def _about(experiment: Experiment, metric: str) -> dict[str, Any]:
    """What pyperf keeps once for all benchmarks."""
    metadata: dict[str, Any] = {"unit": "second", "loops": 1, OWN_METRIC: metric}
    host = host_of(experiment).get("hostname")
    if isinstance(host, str) and host.strip():
        metadata["hostname"] = host
    metadata["steelyard_version"] = __version__
    return {"version": VERSION, "metadata": metadata}


def _run(trial: Trial, metric: str) -> dict[str, Any]:
    started = datetime.fromtimestamp(trial.started_unix_s, UTC).replace(tzinfo=None)
    values = [float(value) for value in trial.measurements[metric]]
    metadata = {"date": started.isoformat(" "), "duration": max(trial.spent_s, sum(values))}
    return {"metadata": metadata, "values": values}


EXTENSION = harness_format(
    "pyperf",
    suffixes=(".pyperf.json",),
    description="pyperf's JSON: a variant a benchmark, a trial a run with values.",
    write=write,
)
