"""The `tracks` and `history-addition` documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.tracks.track_facts import AdditionTold, TrackTold
from steelyard.report.texts.readable import document_value


def addition_document(told: AdditionTold) -> dict[str, Any]:
    """The document of kind ``history-addition``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "history-addition",
            "repository": told.repository or None,
            "branch": told.branch or None,
            "sources": [
                {
                    "name": source.name,
                    "source": source.source,
                    "tracks": source.tracks,
                    "new": source.new_count,
                    "known": source.known_count,
                }
                for source in told.sources
            ],
            "warnings": [caution.as_json() for caution in told.cautions],
        }
    )


def tracks_document(tracks: Sequence[TrackTold]) -> dict[str, Any]:
    """The document of kind ``tracks``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "tracks",
            "tracks": [
                {
                    "benchmark": track.benchmark,
                    "metric": track.metric,
                    "host": track.host,
                    "repository": track.repository,
                    "branch": track.branch,
                    "unit": track.unit,
                    "direction": track.direction,
                    "values": track.value_count,
                }
                for track in tracks
            ],
        }
    )
