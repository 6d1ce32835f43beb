"""The `path-learning`, `path-check` and `path-crash` documents."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.paths.crash_path import CrashPath
from steelyard.analysis.paths.learning import Learning
from steelyard.analysis.paths.path_check import PathCheck
from steelyard.analysis.paths.path_outcomes import (
    CANDIDATE_LIMITS,
    Outcomes,
    SampleCheck,
    ScenarioOutcomes,
)
from steelyard.analysis.paths.separation_outcome import SeparationCost
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.paths.static_document import allowed_document
from steelyard.report.texts.readable import document_value


def learning_document(learning: Learning) -> dict[str, Any]:
    """The document of kind ``path-learning``."""
    path_map = learning.path_map
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-learning",
            "map": learning.map_path,
            "program": path_map.program,
            "build": path_map.build,
            "call_sites": path_map.has_call_sites,
            "runs": path_map.run_count,
            "paths": learning.path_count,
            "new_paths": learning.new_path_count,
            "calls": path_map.call_count,
            "threads": learning.thread_count,
            "functions": learning.function_count,
            "unwatched": [
                {"name": name, "reason": why} for name, why in sorted(path_map.unwatched.items())
            ],
            "lost": path_map.lost_count,
            "guessed": path_map.guessed_count,
            "aligning": [
                {
                    "name": path_map.functions[at],
                    "alignment_bytes": one.alignment_bytes,
                    "is_followed": one.depth_bytes is not None,
                }
                for at, one in sorted((path_map.aligning or {}).items())
                if at in path_map.functions
            ],
            "exit_status": learning.exit_status,
        }
    )


def check_document(check: PathCheck) -> dict[str, Any]:
    """The document of kind ``path-check``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-check",
            "program": check.learnt.program,
            "build": check.learnt.build,
            "call_sites": check.learnt.has_call_sites,
            "offline": _scenario(check.offline),
            "online": None if check.online is None else _scenario(check.online),
            "samples": None if check.samples is None else _samples(check.samples),
            "costs": None if check.costs is None else [_cost(one) for one in check.costs.costs],
            "refused": None if check.costs is None else dict(check.costs.refused),
        }
    )


def crash_document(crash: CrashPath) -> dict[str, Any]:
    """The document of kind ``path-crash``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "path-crash",
            "function": crash.function,
            "height_bytes": crash.height_bytes,
            "library_frames": crash.library_frame_count,
            "signal": crash.signal,
            "outcome": crash.outcome,
            "candidates": [
                {"frames": list(one.functions), "ratio": one.share} for one in crash.candidates
            ],
            "allowed": None if crash.allowed is None else allowed_document(crash.allowed),
        }
    )


def _scenario(found: ScenarioOutcomes) -> dict[str, Any]:
    return {
        "counts": {
            "paths": found.path_count,
            "keys": found.key_count,
            "calls": found.call_count,
        },
        "paths": outcomes_document(found.paths),
        "calls": outcomes_document(found.calls),
    }


def _samples(found: SampleCheck) -> dict[str, Any]:
    return {
        "counts": {
            "samples": found.sample_count,
            "keyless": found.keyless_count,
            "unlearnt": found.unlearnt_count,
        },
        **outcomes_document(found.outcomes),
    }


def _cost(cost: SeparationCost) -> dict[str, Any]:
    return {
        "way": cost.way,
        "frames": cost.frame_count,
        "calls": cost.call_count,
        "paths": outcomes_document(cost.paths),
        "passed_calls": cost.passed_count,
        "passed_ratio": cost.passed_share,
        "instructions": cost.instruction_count,
        "instructions_per_call": cost.instructions_per_call,
        "clones": cost.clone_count,
        "clone_bytes": cost.clone_bytes,
        "code_ratio": cost.code_ratio,
        "stack": {
            "before_bytes": cost.before_bytes,
            "after_bytes": cost.after_bytes,
            "ratio": cost.growth_ratio,
        },
    }


def outcomes_document(found: Outcomes) -> dict[str, Any]:
    """Shares of paths or of calls."""
    limits = zip(CANDIDATE_LIMITS, found.by_candidates, strict=True)
    return {
        "resolved": found.resolved,
        "ambiguous": found.ambiguous,
        "wrong": found.wrong,
        "missing": found.missing,
        "most_frequent": found.most_frequent,
        "candidates": [{"at_most": limit, "ratio": share} for limit, share in limits],
        "distribution": [{"candidates": count, "ratio": share} for count, share in found.by_count],
        "by_code": found.by_code,
    }
