"""The `deletion` document: what is no longer in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.experiment_results import Caution
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def deletion_document(
    store: str, identifiers: Sequence[str], cautions: Sequence[Caution]
) -> dict[str, Any]:
    """The document of kind ``deletion``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "deletion",
            "store": store,
            "experiments": list(identifiers),
            "warnings": [caution.as_json() for caution in cautions],
        }
    )
