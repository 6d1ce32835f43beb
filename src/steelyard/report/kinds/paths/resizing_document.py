"""The `path-resizing` document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.analysis.paths.cloning_outcome import CloningOutcome
from steelyard.analysis.paths.marked_calls import MarkedCalls
from steelyard.analysis.paths.path_outcomes import ScenarioOutcomes
from steelyard.analysis.paths.resizing import Resizing
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.paths.document import outcomes_document
from steelyard.report.texts.readable import document_value


def resizing_document(found: Resizing) -> dict[str, Any]:
    """The document of kind ``path-resizing``."""
    names, separation = found.path_map.functions, found.separation
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-resizing",
            "program": found.program,
            "build": found.build,
            "seed": found.rules.seed,
            "budget_ratio": found.rules.budget_ratio,
            "frames": [
                {"function": names[function], "address": function, "bytes": size}
                for function, size in sorted(found.frame_bytes.items())
            ],
            "calls": [
                {"caller": names[caller], "callee": names[callee], "bytes": size}
                for (caller, callee), size in sorted(found.call_bytes.items())
            ],
            "unlearnt_frames": [
                {"address": function, "bytes": size}
                for function, size in sorted(found.unlearnt_frame_bytes.items())
            ],
            "marks": None if found.marks is None else _marks(found.marks, names),
            "cloning": None if found.cloning is None else _cloning(found.cloning, names),
            "rigid": [
                {"function": name, "reason": why} for name, why in sorted(found.rigid.items())
            ],
            "unwrapped": [
                {"caller": caller, "callee": callee, "reason": why}
                for (caller, callee), why in sorted(found.unwrapped.items())
            ],
            "unmarked": [
                {"caller": caller, "callee": callee, "reason": why}
                for (caller, callee), why in sorted(found.unmarked.items())
            ],
            "wrapped_ratio": found.wrapped_share,
            "keys": {
                "most": separation.key_limit,
                "before": separation.before_count,
                "after": separation.after_count,
                "any_sizes": separation.most_count,
            },
            "tried": separation.tried_count,
            "ended_by": separation.ended_by,
            "stack": {
                "before_bytes": found.before_bytes,
                "after_bytes": found.after_bytes,
                "ratio": found.growth_ratio,
            },
            "before": _outcomes(found.before),
            "after": _outcomes(found.after),
        }
    )


def _marks(marks: MarkedCalls, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "calls": [
            {"caller": names.get(caller), "callee": names[callee]} for caller, callee in marks.calls
        ],
        "of_calls": marks.call_count,
        "passed_ratio": marks.passed_share,
        "exact_ratio": marks.exact_share,
        "unlearnt_calls": marks.unlearnt_count,
    }


def _cloning(found: CloningOutcome, names: Mapping[int, str]) -> dict[str, Any]:
    clones = found.choice.clones
    return {
        "clones": [
            {
                "function": names[clone.address],
                "address": clone.address,
                "original": clone.original,
                "bytes": found.sizes[clone.address],
                "callers": [
                    {"function": names[caller], "address": caller}
                    for caller in clones.callers(clone.address)
                ],
            }
            for clone in clones.clones
        ],
        "bytes": found.choice.byte_count,
        "text_bytes": found.text_bytes,
        "growth_ratio": found.growth_ratio,
        "more_instructions": 0,
        "sized": _outcomes(found.sized),
        "uncloned": [
            {"caller": caller, "callee": callee, "reason": why}
            for (caller, callee), why in sorted(found.uncloned.items())
        ],
    }


def _outcomes(found: ScenarioOutcomes) -> dict[str, Any]:
    return {"paths": outcomes_document(found.paths), "calls": outcomes_document(found.calls)}
