"""The `experiments` document: what a store holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.core.experiment_results import Caution
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value

if TYPE_CHECKING:
    from steelyard.store.database import Listed


def experiments_document(
    store: str, experiments: Iterable[Listed], cautions: Sequence[Caution] = ()
) -> dict[str, Any]:
    """The document of kind ``experiments``, the newest experiment first."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "experiments",
            "store": store,
            "experiments": [_listed_object(found) for found in experiments],
            "warnings": [caution.as_json() for caution in cautions],
        }
    )


def _listed_object(found: Listed) -> dict[str, Any]:
    return {
        "experiment": found.spec.identifier,
        "kind": found.spec.kind,
        "created_unix_s": found.created_unix_s,
        "metric": found.spec.primary_metric.name,
        "variants": [variant.name for variant in found.spec.variants],
        "note": found.spec.note,
        "trials": found.trials,
        "failed": found.failed,
        "stopped": found.stopped,
        "running": found.running,
    }
