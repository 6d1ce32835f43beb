"""The `speedup` document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.profiles.speedup import Promise, Speedup
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def speedup_document(found: Speedup, before: Sequence[str], after: Sequence[str]) -> dict[str, Any]:
    """The document of kind ``speedup``; `before` and `after` are the commands of the builds."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "speedup",
            "command": list(before),
            "mended_command": list(after),
            "function": found.function,
            "factor": found.factor,
            "before_s": found.before_s.as_json(),
            "after_s": found.after_s.as_json(),
            "gain": found.gain.as_json(),
            "promises": [_promise(promise) for promise in found.promises],
            "observations": [
                {"before_s": item.before_s, "after_s": item.after_s} for item in found.blocks
            ],
            "warnings": [caution.as_json() for caution in found.cautions],
        }
    )


def _promise(promise: Promise) -> dict[str, Any]:
    return {
        "profiler": promise.profiler,
        "rank": promise.rank,
        "share": promise.share.as_json(),
        "gain": promise.gain.as_json(),
        "ratio": promise.ratio.as_json(),
        "rest": None if promise.rest is None else promise.rest.as_json(),
        "verdict": promise.verdict,
        "observations": [
            {"share_before": item.before, "share_after": item.after} for item in promise.blocks
        ],
    }
