"""What a terminal shows of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.predict.commits.planning import CommitPlan
from steelyard.report.kinds.commits.tables import MOST_ROWS, bounds
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import caution_text, one_line
from steelyard.report.texts.table import Table


def plan_text(plan: CommitPlan, document: Mapping[str, Any], width: int | None) -> str:
    """The text of ``plan``: what to run, in which batches, and by which calls."""
    chosen = [one for one in plan.runs if one.run]
    head = (
        f"{len(chosen)} of {len(plan.runs)} benchmarks to run: {plan.cost_s:.4g} s; "
        f"{plan.regret:.2g} changes are expected to be missed"
    )
    rows = tuple(
        (
            one_line(one.answer.benchmark),
            one_line(one.answer.unknown),
            "run" if one.run else "skip",
            bounds(one.answer.probability),
            f"{one.cost_s:.4g} s",
        )
        for one in plan.runs[:MOST_ROWS]
    )
    headers = ("benchmark", "revision", "answer", "probability", "cost")
    parts = [[head], plain_table(Table(headers, rows, frozenset({0, 1, 2})), width)]
    if plan.batches:
        parts.append(_batches(plan, width))
    parts.append([one["compare"] for one in document["benchmarks"] if one["compare"]])
    parts.append([f"warning: {caution_text(one.message)}" for one in plan.answer.cautions])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _batches(plan: CommitPlan, width: int | None) -> list[str]:
    rows = tuple(
        (
            one_line(batch.benchmark),
            one_line(batch.revisions[-1]),
            str(len(batch.revisions)),
            f"{100 * batch.probability:.0f} %",
            f"{batch.cost_s:.4g} s",
        )
        for batch in plan.batches[:MOST_ROWS]
    )
    headers = ("benchmark", "run at", "for revisions", "changed by one of them", "expected cost")
    return plain_table(Table(headers, rows, frozenset({0, 1})), width)
