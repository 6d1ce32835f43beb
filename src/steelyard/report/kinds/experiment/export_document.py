"""The `export` document: what was written where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.experiment_results import Caution
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def export_document(
    identifier: str, format_name: str, path: str, cautions: Sequence[Caution]
) -> dict[str, Any]:
    """The document of kind ``export``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "export",
            "experiment": identifier,
            "format": format_name,
            "file": path,
            "warnings": [caution.as_json() for caution in cautions],
        }
    )
