"""The documents of `steelyard suite`, one kind a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value
from steelyard.suite.outcomes import BuildOutcome, FetchOutcome, Need, RunOutcome
from steelyard.suite.program_figures import Description
from steelyard.suite.recipe import Recipe
from steelyard.suite.suite_compilers import Toolchain


def suite_document(recipes: Sequence[Recipe]) -> dict[str, Any]:
    """The document of kind ``suite``: what programs there are."""
    return _document("suite", programs=[_program(recipe) for recipe in recipes])


def _program(recipe: Recipe) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "title": recipe.title,
        "description": recipe.description,
        "language": recipe.languages[0],
        "languages": list(recipe.languages),
        "licence": recipe.licence,
        "spec": recipe.spec or None,
        "groups": list(recipe.groups),
        "traits": list(recipe.traits),
        "exceptions": "exceptions" in recipe.traits,
        "threads": "threads" in recipe.traits,
        "source": recipe.source.kind,
        "package": recipe.source.package or None,
        "version": recipe.versions[0],
        "sizes": list(recipe.sizes),
        "notes": recipe.notes or None,
        "recipe": recipe.path,
    }


def suite_fetch_document(outcomes: Sequence[FetchOutcome], cache: str) -> dict[str, Any]:
    """The document of kind ``suite-fetch``."""
    programs = [
        {
            "name": outcome.recipe.name,
            "version": outcome.version,
            "fetched_bytes": outcome.fetched_bytes,
            "problem": outcome.problem or None,
        }
        for outcome in outcomes
    ]
    return _document("suite-fetch", cache=cache, programs=programs)


def suite_build_document(outcomes: Sequence[BuildOutcome]) -> dict[str, Any]:
    """The document of kind ``suite-build``."""
    builds = [
        {
            "name": outcome.recipe.name,
            **_toolchain(outcome.toolchain),
            "directory": outcome.directory,
            "cost_s": outcome.cost_s,
            "program_bytes": outcome.program_bytes,
            "problem": outcome.problem or None,
        }
        for outcome in outcomes
    ]
    return _document("suite-build", builds=builds)


def suite_run_document(outcomes: Sequence[RunOutcome]) -> dict[str, Any]:
    """The document of kind ``suite-run``."""
    return _document("suite-run", programs=[_run(outcome) for outcome in outcomes])


def _run(outcome: RunOutcome) -> dict[str, Any]:
    return {
        "name": outcome.recipe.name,
        **_toolchain(outcome.toolchain),
        "size": outcome.size,
        "runs": len(outcome.trials),
        "failed": sum(trial.status == "failed" for trial in outcome.trials),
        "wall_time_s": outcome.values("wall_time"),
        "user_time_s": outcome.values("user_time"),
        "max_rss_bytes": outcome.mean("max_rss"),
        "missing": outcome.missing,
        "problem": outcome.problem or None,
    }


def _toolchain(toolchain: Toolchain) -> dict[str, Any]:
    return {name: getattr(toolchain, name) for name in ("cc", "cxx", "fc", "ld", "flags")}


def suite_doctor_document(needs: Sequence[Need], command: str | None) -> dict[str, Any]:
    """The document of kind ``suite-doctor``; `command` installs what is missing."""
    found = [
        {
            "package": need.requirement.package,
            "probe": need.requirement.probe,
            "wanted": need.requirement.wanted,
            "available": need.available,
            "programs": list(need.programs),
        }
        for need in needs
    ]
    return _document("suite-doctor", needs=found, install=command)


def suite_description_document(found: Sequence[Description]) -> dict[str, Any]:
    """The document of kind ``suite-description``; what could not be had is null."""
    programs = [
        {
            **_run(item.run),
            "wall_time_variation": item.run.variation("wall_time"),
            "user_time_variation": item.run.variation("user_time"),
            "build_s": item.build_s,
            "functions": item.function_count,
            "shares": item.shares
            and {
                "program": item.shares.program,
                "libraries": item.shares.libraries,
                "kernel": item.shares.kernel,
                "samples": item.shares.sample_count,
                "functions": item.shares.function_count,
            },
            "allocations": item.allocations
            and {"count": item.allocations.count, "size_bytes": item.allocations.size_bytes},
            "notes": list(item.notes),
        }
        for item in found
    ]
    return _document("suite-description", programs=programs)


def _document(kind: str, **fields: Any) -> dict[str, Any]:
    return document_value({"schema": SCHEMA, "kind": kind, **fields})
