"""One trial from a specification in JSON to a result in JSON: what an executor carries."""

from __future__ import annotations

import os
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.measure.journal import JournalWriter, trial_from_record
from steelyard.measure.launcher import Launcher
from steelyard.measure.layout_report import reporting_variant, tells_layout
from steelyard.measure.provenance import program_provenance
from steelyard.measure.trial_artifacts import taken_line

FIELDS = {
    "schema": "steelyard/1",
    "kind": "trial-spec",
    "variant": None,
    "metrics": None,
    "iterations": None,
    "position": 0,
    "block": 0,
    "variant_index": 0,
    "build": 0,
    "warmup": False,
    "seed": 0,
}
DEFAULT_METRICS = [{"name": "wall_time", "unit": "s"}]


def run_trial(spec: Any) -> dict[str, Any]:
    """Run the one trial that `spec` describes, on this machine, now.

    Parameters
    ----------
    spec : object of JSON
        Of the kind ``trial-spec``: ``variant`` and ``metrics`` as in a stored experiment, and
        the trial's place in its plan.

    Returns
    -------
    dict
        Of the kind ``trial-result``: the trial, failed or not, and what exactly was run.

    Raises
    ------
    DataError
        The specification is not complete, or has something unknown.
    UsageError, MissingCapabilityError
        The program or the launcher is not there.
    """
    import tempfile

    parts = _parts(spec)
    experiment = experiment_spec_from_json(
        {
            "identifier": "trial",
            "kind": "measurement",
            "variants": [parts["variant"]],
            "metrics": parts["metrics"],
            "iterations": parts["iterations"],
            "seed": parts["seed"],
        }
    )
    provenance = program_provenance(experiment)
    with tempfile.TemporaryDirectory(prefix="steelyard-trial-") as directory:
        record, taken = _run(experiment, parts, directory)
    trial = trial_from_record(
        {**record, "variant": parts["variant_index"]}, experiment.metrics, taken
    )
    return {
        "schema": "steelyard/1",
        "kind": "trial-result",
        "trial": to_json(trial),
        "provenance": provenance,
    }


def _parts(spec: Any) -> dict[str, Any]:
    if not isinstance(spec, dict):
        raise DataError("A trial's specification must be a JSON object.")
    unknown = sorted(set(spec) - set(FIELDS))
    if unknown:
        raise DataError(f"The trial has the unknown field {unknown[0]!r}.", field=unknown[0])
    if "variant" not in spec:
        raise DataError("The trial lacks the field 'variant'.", field="variant")
    parts = {**FIELDS, "metrics": DEFAULT_METRICS, **spec}
    for name, default in FIELDS.items():
        if default is not None and type(parts[name]) is not type(default):
            wanted = type(default).__name__
            raise DataError(f"{name} must be of type {wanted}, not {parts[name]!r}.", field=name)
    for name in ("schema", "kind"):
        if parts[name] != FIELDS[name]:
            raise DataError(f"{name} must be {FIELDS[name]!r}, not {parts[name]!r}.", field=name)
    return parts


def _run(
    experiment: ExperimentSpec, parts: dict[str, Any], directory: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    journal = JournalWriter(os.path.join(directory, "journal"), experiment, {})
    variant = experiment.variants[0]
    if experiment.iterations is not None:
        from steelyard.measure.iterations import IterationFiles

        files = IterationFiles(experiment.iterations, directory)
        variant = files.variant_for(variant, parts["position"])
    if variant.checks:
        from steelyard.measure.output_checks import checked_variant

        variant = checked_variant(variant, directory, parts["position"])
    telling = tells_layout(variant.launch)
    if telling:
        variant = reporting_variant(variant, directory, parts["position"])
    with (
        journal,
        Launcher(
            journal, directory, [variant], experiment.metrics, keep_output=bool(variant.checks)
        ) as launcher,
    ):
        launcher.queue(parts["position"], parts["block"], 0, parts["warmup"], parts["build"])
        (record,) = launcher.records()
        return record, taken_line(record, experiment, directory, telling=telling)
