"""The `path-keys` document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.paths.key_comparison import ComparedKeys, KeyDifference
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value

if TYPE_CHECKING:
    from steelyard.analysis.profiles.profile_answer import ProfileAnswer


def keys_document(found: ComparedKeys) -> dict[str, Any]:
    """The document of kind ``path-keys``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-keys",
            "program": found.program,
            "build": found.build,
            "event": found.first.recorded.header["event"],
            "confidence": found.confidence,
            "first": _profile(found.first),
            "second": _profile(found.second),
            "keys": [_key(found, one) for one in found.differences],
        }
    )


def _profile(answer: ProfileAnswer) -> dict[str, Any]:
    return {
        "file": answer.recorded.path,
        "samples": len(answer.samples.functions),
        "warnings": [caution.as_json() for caution in answer.cautions],
    }


def _key(found: ComparedKeys, one: KeyDifference) -> dict[str, Any]:
    if isinstance(one.key, str):
        named = {"function": None, "height_bytes": None, "reason": one.key}
    else:
        function, height_bytes = one.key
        named = {
            "function": found.functions[function],
            "height_bytes": height_bytes,
            "reason": None,
        }
    return {
        **named,
        "first_samples": one.first_count,
        "second_samples": one.second_count,
        "first": one.first.as_json(),
        "second": one.second.as_json(),
        "difference": one.difference.as_json(),
        "verdict": one.verdict,
    }
