"""The `path-static` document: what a map and a program's code say, and paths that code allows."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.paths.static_map import (
    AllowedPaths,
    CodeFacts,
    KeyAnswer,
    PathsOfMap,
    UnlearntPaths,
)
from steelyard.analysis.paths.static_truth import StaticTruth
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def map_document(found: PathsOfMap) -> dict[str, Any]:
    """The document of kind ``path-static``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-static",
            "program": found.program,
            "build": found.build,
            "learnt_paths": found.learnt_path_count,
            "call_sites": found.has_call_sites,
            "code": None if found.code is None else _code(found.code),
            "truth": None if found.truth is None else _truth(found.truth),
            "keys": [_key(one) for one in found.keys],
        }
    )


def _code(code: CodeFacts) -> dict[str, Any]:
    return {
        "functions": code.function_count,
        "calls": code.call_count,
        "pointer_calls": code.pointer_call_count,
        "taken_functions": code.taken_count,
        "library_calls": code.library_call_count,
        "reached_functions": code.reached_count,
        "behind_varying": code.behind_varying_count,
        "varying": [
            {"function": name, "reason": why} for name, why in sorted(code.varying.items())
        ],
    }


def _truth(truth: StaticTruth) -> dict[str, Any]:
    return {
        "paths": truth.path_count,
        "allowed": truth.allowed_count,
        "others": [{"reason": why, "paths": count} for why, count in truth.reasons],
    }


def _key(one: KeyAnswer) -> dict[str, Any]:
    return {
        "function": one.function,
        "height_bytes": one.height_bytes,
        "candidates": [
            {"frames": list(candidate.functions), "ratio": candidate.share}
            for candidate in one.learnt
        ],
        "allowed": None if one.allowed is None else allowed_document(one.allowed),
    }


def allowed_document(allowed: AllowedPaths) -> dict[str, Any]:
    """Paths that code allows."""
    unlearnt = allowed.unlearnt or (None,) * len(allowed.paths)
    return {
        "paths": [
            {"frames": list(path), "steps_never_learnt": steps}
            for path, steps in zip(allowed.paths, unlearnt, strict=True)
        ],
        "are_all": allowed.are_all,
        "is_too_high": allowed.is_too_high,
    }


def unlearnt_document(one: UnlearntPaths) -> dict[str, Any]:
    """Samples of a key that was never learnt."""
    return {
        "function": one.function,
        "height_bytes": one.height_bytes,
        "samples": one.sample_count,
        "allowed": allowed_document(one.allowed),
    }
