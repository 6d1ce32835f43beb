"""The `error` document."""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import SteelyardError
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def error_document(error: SteelyardError) -> dict[str, Any]:
    """The document of kind ``error`` for anything that a user is told instead of a traceback."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "error",
            "code": error.code,
            "message": error.message,
            "field": error.field,
        }
    )
