"""The `changes` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.history.stated_alarms import FoundChanges, StatedAlarm, TrackChanges
from steelyard.core.tracks import Change
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def changes_document(found: FoundChanges) -> dict[str, Any]:
    """The document of kind ``changes``: tracks, their changes, and the alarms by those."""
    numbers: dict[int, int] = {}
    changes: list[dict[str, Any]] = []
    for track in found.tracks:
        for change in track.changes:
            numbers[id(change)] = len(changes)
            changes.append(_change(change))
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "changes",
            "detector": found.detector,
            "tracks": [_track(track) for track in found.tracks],
            "changes": changes,
            "alarms": [_alarm(stated, numbers) for stated in found.alarms],
            "warnings": [caution.as_json() for caution in found.cautions],
        }
    )


def _track(track: TrackChanges) -> dict[str, Any]:
    name = track.name
    return {
        "track": str(name),
        "benchmark": name.benchmark,
        "metric": name.metric,
        "host": name.host,
        "repository": name.repository,
        "branch": name.branch,
        "unit": track.unit,
        "direction": track.direction,
        "values": track.count,
        "newest_revision": track.newest_revision,
        "newest_value": track.newest_value,
        "changes": len(track.changes),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "track": str(change.track),
        "benchmark": change.track.benchmark,
        "metric": change.track.metric,
        "host": change.track.host,
        "kind": change.kind,
        "revision": change.revision,
        "first_revision": change.first_revision,
        "previous_revision": change.previous_revision or None,
        "index": change.index,
        "last_index": change.last_index,
        "earliest_index": change.earliest_index,
        "latest_index": change.latest_index,
        "size": change.size.as_json(),
        "difference": change.difference.as_json(),
        "direction": change.direction,
        "confidence": change.confidence,
        "p": change.p_value,
        "detector": change.detector,
    }


def _alarm(stated: StatedAlarm, numbers: dict[int, int]) -> dict[str, Any]:
    alarm, confirmation = stated.alarm, stated.confirmation
    return {
        "revision": alarm.revision,
        "first_revision": alarm.first_revision,
        "direction": alarm.direction,
        "reason": alarm.reason,
        "confidence": alarm.confidence,
        "state": stated.state,
        "changes": [numbers[id(change)] for change in alarm.changes],
        "subject": stated.subject or None,
        "link": stated.link or None,
        "note": stated.note or None,
        "confirmation": None
        if confirmation is None
        else {
            "verdict": confirmation.verdict,
            "base": confirmation.base,
            "ratio": None if confirmation.ratio is None else confirmation.ratio.as_json(),
            "experiment": confirmation.experiment or None,
            "reason": confirmation.reason or None,
        },
    }
