"""The `experiment` document: one experiment as it was specified and run, without its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.json_codec import to_json
from steelyard.core.trial_table import TrialTable
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value

# Each variant's trials are picked from the whole table: for many, in one pass for all.
_FEW_VARIANTS = 50


def experiment_document(
    experiment: Experiment,
    *,
    running: bool = False,
    trials: bool = False,
    cautions: Sequence[Caution] = (),
) -> dict[str, Any]:
    """The document of kind ``experiment``; ``trials`` is null unless they are asked for."""
    spec = experiment.spec
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "experiment",
            "experiment": spec.identifier,
            "created_unix_s": experiment.created_unix_s,
            "stopped": experiment.stopped,
            "running": running,
            "specification": to_json(spec),
            "provenance": to_json(experiment.provenance),
            "variants": _variant_objects(experiment),
            "trials": [_trial_object(experiment, t) for t in experiment.trials] if trials else None,
            "warnings": [caution.as_json() for caution in cautions],
        }
    )


def _variant_objects(experiment: Experiment) -> list[dict[str, Any]]:
    table, variants = TrialTable.of(experiment.trials), experiment.spec.variants
    if len(variants) <= _FEW_VARIANTS:
        return [_variant_object(v.name, table.only(i)) for i, v in enumerate(variants)]
    places: list[list[int]] = [[] for _ in variants]
    for place, variant in enumerate(table.variant):
        places[variant].append(place)
    return [
        _variant_object(v.name, table.picked(own)) for v, own in zip(variants, places, strict=True)
    ]


def _variant_object(name: str, own: TrialTable) -> dict[str, Any]:
    kept = own.only(warmup=False)
    reasons = [trial.reason for trial in kept.only(failed=True)]
    return {
        "name": name,
        "trials": len(kept),
        "failed": len(reasons),
        "failures": {str(reason): reasons.count(reason) for reason in dict.fromkeys(reasons)},
        "warmups": len(own) - len(kept),
        "spent_s": sum(own.spent_s),
    }


def _trial_object(experiment: Experiment, trial: Trial) -> dict[str, Any]:
    measured = {name: list(values) for name, values in trial.measurements.items()}
    return {
        **to_json(trial),
        "variant": experiment.spec.variants[trial.variant].name,
        "measurements": measured,
    }
