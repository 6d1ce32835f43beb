"""The `agreement` document, and profiles read back from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.analysis.profiles.agreement_results import (
    Agreement,
    Calls,
    ProgramAgreement,
    ProgramProfiles,
)
from steelyard.analysis.profiles.profile_agreement import (
    KEPT_COUNT,
    hottest_functions,
    reached_from,
)
from steelyard.core.errors import DataError
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value

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
            "pairs": [
                {
                    "profilers": [pair.first, pair.second],
                    "relations": dict(pair.relations),
                    "distance": pair.distance.as_json(),
                }
                for pair in found.pairs
            ],
        }
    )


def _program(item: ProgramAgreement) -> dict[str, Any]:
    profiles = item.profiles
    # A function that is hot in one run or by one profiler may be far down in others: without its
    # shares there the document would answer otherwise when it is read again.
    functions = {
        name
        for runs in profiles.runs.values()
        for run in runs
        for name in hottest_functions(run, KEPT_COUNT)
    }
    kept = {
        profiler: [{name: run[name] for name in sorted(functions & run.keys())} for run in runs]
        for profiler, runs in profiles.runs.items()
    }
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
        found = [_profiles(item) for item in document["programs"]]
        if not found:
            raise ValueError("it has no program")
    except KeyError as error:
        raise _foreign(path, f"it has no {error}") from None
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise _foreign(path, str(error)) from None
    return found


def _foreign(path: str, reason: str) -> DataError:
    return DataError(
        f"{path} is not a document of `steelyard profile agree --json`: {reason}.", field="--load"
    )


def _profiles(item: Mapping[str, Any]) -> ProgramProfiles:
    """One program of a document.

    Raises
    ------
    KeyError, ArithmeticError, AttributeError, TypeError, ValueError
        It is none.
    """
    runs = {
        str(profiler): [_shares(run) for run in given] for profiler, given in item["runs"].items()
    }
    name = str(item["name"])
    if len(runs) < 2 or not all(runs.values()):
        raise ValueError(f"its program {name!r} has not two profilers with a run of each")
    calls = frozenset((str(caller), str(callee)) for caller, callee in item["calls"])
    return ProgramProfiles(name, str(item["setting"]), runs, calls)


def _shares(run: Mapping[str, Any]) -> dict[str, float]:
    shares = {str(name): float(share) for name, share in run.items()}
    # Not a number is in no range.
    if not any(shares.values()) or not all(0 <= share <= 1 for share in shares.values()):
        raise ValueError("a run has no share, or one that is not between 0 and 1")
    return shares
