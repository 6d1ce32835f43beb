"""The document of a plan: which benchmarks to run for which commits."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from steelyard.predict.commits.planning import CommitPlan
from steelyard.report.documents.schema_version import SCHEMA


def plan_document(
    plan: CommitPlan, commands: Mapping[str, str], programs: tuple[str, str] | None
) -> dict[str, Any]:
    """The `commit-plan` document.

    Parameters
    ----------
    commands : mapping of str to str
        How benchmarks are run, with ``{program}`` for the program.
    programs : (str, str) or None
        The old and the new one.
    """
    return {
        "schema": SCHEMA,
        "kind": plan.kind,
        "budget_s": plan.budget_s,
        "cost_s": plan.cost_s,
        "expected_missed": plan.regret,
        "benchmarks": [
            {
                "benchmark": one.answer.benchmark,
                "unknown": one.answer.unknown,
                "probability": one.answer.probability.as_json(),
                "run": one.run,
                "cost_s": one.cost_s,
                "reasons": list(one.answer.reasons),
                "compare": _compare(one.answer.benchmark, commands, programs) if one.run else None,
            }
            for one in plan.runs
        ],
        "batches": [
            {
                "benchmark": batch.benchmark,
                "revisions": list(batch.revisions),
                "run": batch.revisions[-1],
                "probability": batch.probability,
                "cost_s": batch.cost_s,
            }
            for batch in plan.batches
        ],
        "warnings": [caution.as_json() for caution in plan.answer.cautions],
    }


def _compare(
    benchmark: str, commands: Mapping[str, str], programs: tuple[str, str] | None
) -> str | None:
    """The call of `steelyard compare` that runs a benchmark with both programs."""
    command = commands.get(benchmark)
    if command is None or programs is None:
        return None
    calls = (command.replace("{program}", quote(program)) for program in programs)
    return " ".join(("steelyard compare", *(quote(call) for call in calls)))
