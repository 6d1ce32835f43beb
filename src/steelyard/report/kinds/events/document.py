"""The `events` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.events.call_paths import PathOfEvent
from steelyard.analysis.events.correlation import Correlation
from steelyard.analysis.events.event_counts import KindOfEvent
from steelyard.analysis.events.internal_variance import InternalVariance
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def events_document(found: InternalVariance, origin: Origin) -> dict[str, Any]:
    """The document of kind ``events``, as its schema says."""
    overhead = found.overhead
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
    frames = [{"name": frame.name, "object": frame.object} for frame in found.path.frames]
    told = _kind(found.events)
    return {"event": told.pop("name"), "frames": frames, **told}


def _correlation(found: Correlation) -> dict[str, Any]:
    return {"coefficient": found.coefficient.as_json(), "p": found.p}
