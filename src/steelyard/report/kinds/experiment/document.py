"""The `experiment` document: one experiment as it was specified and run, without its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.json_codec import to_json
from steelyard.core.trial_table import TrialTable
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


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
            "variants": [_variant_object(experiment, i) for i in range(len(spec.variants))],
            "trials": [_trial_object(experiment, t) for t in experiment.trials] if trials else None,
            "warnings": [caution.as_json() for caution in cautions],
        }
    )


def _variant_object(experiment: Experiment, index: int) -> dict[str, Any]:
    own = TrialTable.of(experiment.trials).only(index)
    kept = own.only(warmup=False)
    reasons = [trial.reason for trial in kept.only(failed=True)]
    return {
        "name": experiment.spec.variants[index].name,
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
