"""The `deletion` document: what is no longer in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.model import Caution
from steelyard.report.json.measurement import SCHEMA
from steelyard.report.wording import document_value


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
