"""The `export` document: what was written where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.model import Caution
from steelyard.report.json.measurement import SCHEMA
from steelyard.report.wording import document_value


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
