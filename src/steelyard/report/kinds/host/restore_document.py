"""The `host-restore` document."""

from __future__ import annotations

from typing import Any

from steelyard.host.restore import Restored
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def host_restore_document(restored: Restored) -> dict[str, Any]:
    """The document of kind ``host-restore``: the knobs put back, and why others were not."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "host-restore",
            "restored": list(restored.knobs),
            "failed": [{"knob": name, "reason": reason} for name, reason in restored.failures],
        }
    )
