"""An alert of a path that was never learnt: a line for people, and the `path-alert` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.paths.path_alert import PathAlert
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.paths.sampled_text import path_text
from steelyard.report.texts.readable import document_value, one_line


def alert_line(alert: PathAlert) -> str:
    """What the terminal shows."""
    key = f"{one_line(alert.function)} with {alert.height_bytes:,} bytes of stack"
    nearest = "this function was never learnt"
    if alert.nearest is not None and alert.nearest_height_bytes is not None:
        nearest = (
            f"nearest learnt, with {alert.nearest_height_bytes:,}: "
            f"{path_text(alert.nearest.functions)}"
        )
    return f"alert: a path that was never learnt: {key}, in process {alert.process}; {nearest}"


def alert_document(alert: PathAlert) -> dict[str, Any]:
    """The document of kind ``path-alert``."""
    nearest = None
    if alert.nearest is not None:
        nearest = {
            "height_bytes": alert.nearest_height_bytes,
            "frames": list(alert.nearest.functions),
            "ratio": alert.nearest.share,
        }
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-alert",
            "function": alert.function,
            "height_bytes": alert.height_bytes,
            "time_ns": alert.time_ns,
            "process": alert.process,
            "thread": alert.thread,
            "nearest": nearest,
        }
    )
