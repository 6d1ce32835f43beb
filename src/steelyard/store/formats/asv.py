"""A results file of asv (airspeed velocity), version 2.

``results/MACHINE/COMMIT-ENV.json`` as in asv/results.py: the columns of each benchmark's list are
named by ``result_columns``. The result is the median, as asv's own are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import fsum
from statistics import median, quantiles
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.version import __version__
from steelyard.store.exported_trials import cautions_of, host_of, kept_trials, level_cautions
from steelyard.store.file_format import FileFormat, write_json_file

COLUMNS = (
    "result",
    "params",
    "version",
    "started_at",
    "duration",
    "stats_ci_99_a",
    "stats_ci_99_b",
    "stats_q_25",
    "stats_q_75",
    "stats_number",
    "stats_repeat",
    "samples",
)
UNKNOWN_COMMIT = "0" * 40


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the executions of the primary metric of each variant, as a benchmark each.

    Raises
    ------
    DataError
        No trial gave the metric.
    """
    primary = experiment.spec.primary_metric.name
    results: dict[str, list[Any]] = {}
    for index, variant in enumerate(experiment.spec.variants):
        trials = kept_trials(experiment, index, primary)
        if not trials:
            continue
        means = [fsum(t.measurements[primary]) / len(t.measurements[primary]) for t in trials]
        started_ms = round(min(trial.started_unix_s for trial in trials) * 1e3)
        when = started_ms, fsum(trial.spent_s for trial in trials)
        results[f"steelyard.{variant.name}"] = _row(variant.name, primary, means, when)
    if not results:
        raise DataError(f"No trial gave {primary}.", field="experiment")
    write_json_file(_document(experiment, results), path, indent=1)
    cautions = cautions_of(experiment, "asv's format", {primary})
    cautions += level_cautions(experiment, "asv's format")
    cautions.append(
        Caution(
            "no-commit",
            "asv keeps results by commit, and Steelyard knows none: put its hash in the place of "
            "the zeros in commit_hash, and into the file's name.",
        )
    )
    return cautions


def _row(name: str, metric: str, means: list[float], when: tuple[int, float]) -> list[Any]:
    # asv compares no two results of different versions: a name given by hand says what is the same.
    about = f"{name}\0{metric}".encode("utf-8", "surrogatepass")
    low, high = means[0], means[0]
    if len(means) > 1:
        low, _, high = quantiles(means, n=4, method="inclusive")
    return [
        [median(means)],
        [],
        hashlib.sha256(about).hexdigest(),
        *when,
        [None],
        [None],
        [low],
        [high],
        [1],
        [len(means)],
        [means],
    ]


def _document(experiment: Experiment, results: dict[str, list[Any]]) -> dict[str, Any]:
    machine = str(host_of(experiment).get("hostname") or "steelyard")
    return {
        "commit_hash": UNKNOWN_COMMIT,
        "env_name": f"steelyard-{__version__}",
        "date": round(experiment.created_unix_s * 1e3),
        "params": {"machine": machine, "python": "", "steelyard": __version__},
        "python": "",
        "requirements": {},
        "env_vars": {},
        "result_columns": list(COLUMNS),
        "results": results,
        "durations": {},
        "version": 2,
    }


EXTENSION = FileFormat(
    name="asv",
    suffixes=(".asv.json",),
    description="A results file of asv: the primary metric's executions, by variant.",
    sniff=lambda _head: False,
    write=write,
)
