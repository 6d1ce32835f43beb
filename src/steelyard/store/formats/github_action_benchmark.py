"""The input of github-action-benchmark with ``tool: customSmallerIsBetter``.

A list of objects with ``name``, ``unit``, ``value`` and perhaps ``range`` and ``extra``, as in the
README of benchmark-action/github-action-benchmark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.store.exported_trials import cautions_of, mean_intervals
from steelyard.store.file_format import FileFormat, write_json_file

# One unit whatever the value: who keeps a history compares numbers and not units.
MILLISECONDS = 1e3


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the mean of the primary metric of each variant; times in milliseconds.

    Raises
    ------
    DataError
        Of the primary metric more is better.
    """
    primary = experiment.spec.primary_metric
    what = "customSmallerIsBetter of github-action-benchmark"
    if primary.direction == "higher":
        raise DataError(
            f"Of {primary.name} more is better, which {what} would take for worse.",
            field="experiment",
        )
    factor, unit = (MILLISECONDS, "ms") if primary.unit == "s" else (1.0, primary.unit)
    entries: list[dict[str, Any]] = []
    for name, metric, mean in mean_intervals(experiment, what):
        if metric != primary or mean.estimate is None:
            continue
        entry: dict[str, Any] = {"name": name, "unit": unit, "value": mean.estimate * factor}
        if isinstance(mean, Estimate):
            entry["range"] = f"± {mean.half_width * factor:.6g}"
            percent = f"{100 * mean.confidence:g}%"
            entry["extra"] = f"{primary.name}, {percent} interval by {mean.method}"
        entries.append(entry)
    if not entries:
        raise DataError(f"No trial gave {primary.name}.", field="experiment")
    write_json_file(entries, path, indent=2)
    return cautions_of(experiment, what, {primary.name})


EXTENSION = FileFormat(
    name="github-action-benchmark",
    suffixes=(),
    description="customSmallerIsBetter of github-action-benchmark: the primary metric's means.",
    sniff=lambda _head: False,
    write=write,
)
