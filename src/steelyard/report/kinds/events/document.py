"""The `events` document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.events.call_paths import PathOfEvent, lookup_counts
from steelyard.analysis.events.correlation import Correlation
from steelyard.analysis.events.event_counts import KindOfEvent
from steelyard.analysis.events.internal_variance import InternalVariance
from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def events_document(found: InternalVariance, origin: Origin) -> dict[str, Any]:
    """The document of kind ``events``, as its schema says."""
    overhead = found.overhead
    lookups = lookup_counts(found.paths)
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "events",
            "experiment": origin.experiment,
            "response": found.response,
            "unit": found.unit,
            "confidence": found.confidence,
            "correction": found.correction,
            "runs": [
                {"position": r.position, "value": r.value, "events": sum(r.counts), "lost": r.lost}
                for r in found.runs
            ],
            "kinds": [_kind(kind) for kind in found.kinds],
            "total": _kind(found.total),
            "paths": None if found.paths is None else [_path(path) for path in found.paths],
            **({} if lookups is None else {"lookups": lookups}),
            "order": {
                "correlation": _correlation(found.order),
                "differences": [list(row) for row in found.order_differences],
                "moved_ratios": [list(row) for row in found.moved_ratios],
                "far_pair": list(found.far_pair),
                "diff": [{"side": side, "event": name or None} for side, name in found.diff],
            },
            "together": [
                {
                    "events": [one.first, one.second],
                    "correlation": _correlation(one.correlation),
                    "adjusted_p": one.adjusted_p,
                }
                for one in found.together
            ],
            "overhead": None if overhead is None else overhead.as_json(),
            "plain_mean": found.plain_mean,
            "recorded_mean": found.recorded_mean,
            "warnings": [caution.as_json() for caution in found.cautions],
        }
    )


def _kind(kind: KindOfEvent) -> dict[str, Any]:
    return {
        "name": kind.name,
        "counts": list(kind.counts),
        "differs": kind.differs,
        "pearson": _correlation(kind.pearson),
        "rank": _correlation(kind.rank),
        "adjusted_p": kind.adjusted_p,
        "adjusted_rank_p": kind.adjusted_rank_p,
    }


def _path(found: PathOfEvent) -> dict[str, Any]:
    path, told = found.path, _kind(found.events)
    known: dict[str, Any] = {}
    if path.outcome:
        candidates = [
            {"share": share, "frames": _frames(frames)} for share, frames in path.candidates
        ]
        known = {"outcome": path.outcome, "candidates": candidates, "reason": path.reason or None}
    return {"event": told.pop("name"), "frames": _frames(path.frames), **known, **told}


def _frames(frames: Sequence[Frame]) -> list[dict[str, str]]:
    return [{"name": frame.name, "object": frame.object} for frame in frames]


def _correlation(found: Correlation) -> dict[str, Any]:
    return {"coefficient": found.coefficient.as_json(), "p": found.p}
