"""What an experiment file asks of its experiment, kept with it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from steelyard.allocation.worker_facts import HOST_FACTORS
from steelyard.app.experiment.toml_lines import field_place
from steelyard.core.errors import UnknownNameError, UsageError
from steelyard.core.experiment_spec import ExperimentSpec

if TYPE_CHECKING:
    from steelyard.app.experiment.experiment_entries import ExperimentFile

# Of the table [cause], what a stored experiment does not say by itself.
_OF_CAUSE = ("response", "intermediate", "tolerance", "margin")
_OF_EVENTS = ("response", "correction")


def asked_text(file: ExperimentFile) -> str:
    """What `file` asks, as `ExperimentSpec.asked` keeps it; empty for one that has no path."""
    tables = {
        "analysis": dict(file.analysis),
        "cause": {name: file.cause[name] for name in _OF_CAUSE if name in file.cause},
        "events": {name: file.events[name] for name in _OF_EVENTS if name in file.events},
    }
    kept: dict[str, Any] = {name: table for name, table in tables.items() if table}
    if os.path.isfile(file.path):
        kept["file"] = os.path.abspath(file.path)
    return json.dumps(kept, ensure_ascii=False) if kept else ""


def check_asked(file: ExperimentFile, spec: ExperimentSpec) -> None:
    """Refuse a table ``[analysis]`` that could not be answered once everything has run.

    Raises
    ------
    UsageError
        Its method, an option of that, its response or a factor is none: the message names the
        line.
    """
    said = file.analysis
    if not said:
        return
    from steelyard.analysis.methods import ANALYSES

    method = None
    if "method" in said:
        try:
            method = ANALYSES.get(str(said["method"]))
        except UnknownNameError as error:
            place = field_place(file.path, "analysis", "method")
            raise UsageError(f"{place}: {error.message}", field="analysis.method") from None
    known = {
        "response": [metric.name for metric in spec.metrics],
        "factors": [
            *(name for name, _ in spec.varied),
            *(factor.name for factor in spec.nuisance),
            *(HOST_FACTORS if file.hosts else ()),
        ],
        "options": sorted(method.options) if method is not None else None,
    }
    for field, names in known.items():
        given = said.get(field, ())
        for name in [given] if isinstance(given, str) else given:
            if names is not None and name not in names:
                place = field_place(file.path, "analysis", field)
                raise UsageError(
                    f"{place}: there is no {name!r}; known: {', '.join(names) or 'none'}.",
                    field=f"analysis.{field}",
                )


def asked_table(spec: ExperimentSpec, name: str) -> dict[str, Any]:
    """A table of the file that an experiment came from; empty where it has none."""
    kept = json.loads(spec.asked) if spec.asked else {}
    found = kept.get(name)
    return found if isinstance(found, dict) else {}


def asked_file(spec: ExperimentSpec) -> str | None:
    """The file that an experiment came from, where it still is."""
    path = json.loads(spec.asked).get("file") if spec.asked else None
    return path if isinstance(path, str) and os.path.isfile(path) else None
