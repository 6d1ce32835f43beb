"""The `agreement` document, and profiles read back from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.analysis.profile_agreement import (
    KEPT_COUNT,
    Agreement,
    Calls,
    ProgramAgreement,
    ProgramProfiles,
    hottest_functions,
    reached_from,
)
from steelyard.core.errors import DataError
from steelyard.report.json.measurement import SCHEMA
from steelyard.report.wording import document_value

KIND = "agreement"


def agreement_document(found: Agreement) -> dict[str, Any]:
    """The document of kind ``agreement``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": KIND,
            "programs": [_program(item) for item in found.programs],
            "unions": [estimate.as_json() for estimate in found.unions],
            "relations": dict(found.relations),
        }
    )


def _program(item: ProgramAgreement) -> dict[str, Any]:
    profiles = item.profiles
    kept = {
        profiler: [{name: run[name] for name in hottest_functions(run, KEPT_COUNT)} for run in runs]
        for profiler, runs in profiles.runs.items()
    }
    functions = {name for runs in kept.values() for run in runs for name in run}
    return {
        "name": profiles.name,
        "setting": profiles.setting,
        "hottest": dict(item.hottest),
        "unions": [estimate.as_json() for estimate in item.unions],
        "hotness": [
            {"function": hot.function, "profiler": hot.profiler, "share": hot.share.as_json()}
            for hot in item.hotness
        ],
        "pairs": [
            {
                "profilers": [pair.first, pair.second],
                "relation": pair.relation,
                "stability": pair.stability,
            }
            for pair in item.pairs
        ],
        "runs": kept,
        "calls": _calls_among(functions, profiles.calls),
    }


def _calls_among(functions: set[str], calls: Calls) -> list[list[str]]:
    """Who calls whom among these functions, directly or through any others."""
    reached = reached_from(functions, calls)
    return sorted(
        [caller, callee] for caller, callees in reached.items() for callee in callees & functions
    )


def profiles_of(document: Mapping[str, Any], path: str) -> list[ProgramProfiles]:
    """The programs of a document that was read from the file `path`.

    Raises
    ------
    DataError
        It is no such document.
    """
    try:
        if document["kind"] != KIND:
            raise ValueError(f"its kind is {document['kind']!r}")
        return [
            ProgramProfiles(
                name=str(item["name"]),
                setting=str(item["setting"]),
                runs={
                    str(profiler): [{str(k): float(v) for k, v in run.items()} for run in runs]
                    for profiler, runs in item["runs"].items()
                },
                calls=frozenset((str(caller), str(callee)) for caller, callee in item["calls"]),
            )
            for item in document["programs"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path} is not a document of `steelyard profile agree --json`: {error}.",
            field="--load",
        ) from None
