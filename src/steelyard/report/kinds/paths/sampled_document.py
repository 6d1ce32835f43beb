"""The `paths` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.paths.path_shares import PathShare
from steelyard.analysis.paths.sampled_paths import SampledPaths
from steelyard.analysis.paths.self_learning import WalkLooks
from steelyard.analysis.paths.telling_walks import TellingWalks
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.paths.static_document import unlearnt_document
from steelyard.report.texts.readable import document_value


def sampled_document(paths: SampledPaths) -> dict[str, Any]:
    """The document of kind ``paths``."""
    recorded = paths.answer.recorded
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "paths",
            "file": recorded.path,
            "map": paths.map_path,
            "program": paths.path_map.program,
            "build": paths.path_map.build,
            "call_sites": paths.path_map.has_call_sites,
            "samples": sum(paths.counts.values()),
            **paths.counts,
            "by_code": None if paths.allowed is None else dict(paths.by_code),
            "keys": paths.key_count,
            "named_candidates": paths.most_named,
            "checked": None
            if paths.truth is None
            else {"samples": paths.truth.sample_count, "wrong": paths.truth.wrong_count},
            "learnt_beside": None
            if paths.learning is None
            else {
                "walks": paths.learning.walk_count,
                "checks": paths.learning.check_count,
                "wrong": paths.learning.wrong_count,
                "looks": None if paths.learning.looks is None else _looks(paths.learning.looks),
            },
            "walked": None if paths.walks is None else _walks(paths.walks),
            "recording": {**recorded.header, **recorded.summary},
            "paths": [_path(one) for one in paths.paths],
            "missing_in": [
                {"function": one.function, "reason": one.reason, "samples": one.sample_count}
                for one in paths.missing
            ],
            "allowed": None
            if paths.allowed is None
            else [unlearnt_document(one) for one in paths.allowed],
            "warnings": [caution.as_json() for caution in paths.answer.cautions],
        }
    )


def _looks(looks: WalkLooks) -> dict[str, Any]:
    return {
        "copied_bytes": looks.copied_bytes,
        "all": looks.look_count,
        "spared": looks.spared_count,
        "checked": looks.checked_count,
        "elsewhere": looks.elsewhere_count,
    }


def _walks(walks: TellingWalks) -> dict[str, Any]:
    return {
        "stacks": walks.walk_count,
        "frames": walks.frame_count,
        "told": walks.told_count,
        "foreign": walks.foreign_count,
        "copied_bytes": walks.copied_bytes,
        "at_ambiguous_alone": walks.are_parted,
    }


def _path(one: PathShare) -> dict[str, Any]:
    return {
        "frames": list(one.frames),
        "samples": one.sample_count,
        "share": one.share.as_json(),
        "candidates": [
            {"frames": list(candidate.functions), "ratio": candidate.share}
            for candidate in one.candidates
        ],
        "candidate_count": one.candidate_count,
        "undetermined_ratio": one.undetermined_ratio,
        "by_code": one.by_code_count,
    }
