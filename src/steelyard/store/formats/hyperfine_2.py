"""hyperfine's JSON in schema 2, for its newer versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.version import __version__
from steelyard.store.file_format import FileFormat, write_json_file
from steelyard.store.formats.hyperfine import exportable_results
from steelyard.store.hyperfine_experiments import METRICS, result_object_2


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write schema 2: one object for each run, with its metrics in their units."""
    known = [ours for ours, _unit in METRICS.values()]
    results, cautions = exportable_results(experiment, result_object_2, known)
    theirs = {ours: name for name, (ours, _unit) in METRICS.items()}
    started = datetime.fromtimestamp(experiment.created_unix_s, UTC)
    document: dict[str, Any] = {
        "schema_version": 2,
        "metadata": {
            "start_time": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "written_by": f"steelyard {__version__}",
            "platform": {},
        },
        "primary_metric": theirs.get(experiment.spec.primary_metric.name, "time_wall_clock"),
        "results": results,
    }
    write_json_file(document, path, indent=2)
    return cautions


EXTENSION = FileFormat(
    name="hyperfine-2",
    suffixes=(),
    description="hyperfine's JSON in schema 2, of its newer versions. `hyperfine` reads it.",
    sniff=lambda _head: False,
    write=write,
)
