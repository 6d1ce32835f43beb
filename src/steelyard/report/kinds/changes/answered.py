"""What was done about a change: the `history-answer` document and its text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from steelyard.core.tracks import TrackName
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.changes.sentences import short_revision
from steelyard.report.texts.readable import document_value


def answer_document(
    revision: str, sort: str, until_unix_s: float | None, tracks: Sequence[TrackName]
) -> dict[str, Any]:
    """The document of kind ``history-answer``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "history-answer",
            "revision": revision,
            "answer": sort,
            "until_unix_s": until_unix_s,
            "tracks": [str(track) for track in tracks],
        }
    )


def answer_text(
    revision: str, sort: str, until_unix_s: float | None, tracks: Sequence[TrackName]
) -> str:
    """One line; ends with a newline."""
    until = ""
    if until_unix_s is not None:
        until = f" until {datetime.fromtimestamp(until_unix_s, UTC):%Y-%m-%d %H:%M} UTC"
    count = len(tracks)
    on = f"{count} track{'s'[: count != 1]}"
    return f"Changes at {short_revision(revision)} on {on} are {sort}{until}.\n"
