"""Dimensionings of several benchmarks side by side: the suggested repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning
from steelyard.core.units import format_duration
from steelyard.report.texts.labels import labels
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

# The half-widths of the table, of those that each dimensioning has.
SHOWN_RATIOS = (0.01, 0.025)
_UNKNOWN = "?"


def summary_table(answers: Sequence[tuple[str, Dimensioning]]) -> Table:
    """A row a benchmark: variation and best count of each level, and what 1 % and 2.5 % take."""
    names = labels(name for name, _ in answers)
    levels = list(
        dict.fromkeys(level.level for _, answer in answers for level in answer.components.levels)
    )
    headers = (
        "benchmark",
        *(f"{one_line(level)}: variation, repeat" for level in levels),
        *(f"for ± {100 * ratio:g} %" for ratio in SHOWN_RATIOS),
    )
    rows = tuple(
        (
            names[name],
            *(_level_cell(answer, level) for level in levels),
            *(_precision_cell(answer, ratio) for ratio in SHOWN_RATIOS),
        )
        for name, answer in answers
    )
    return Table(headers, rows)


def _level_cell(answer: Dimensioning, level: str) -> str:
    for found, plan in zip(answer.components.levels, answer.plans, strict=True):
        if found.level != level:
            continue
        variation = _UNKNOWN if found.variation is None else f"{100 * found.variation:.2f} %"
        if level == answer.top_level:
            return f"{variation}, top"
        count = _UNKNOWN if plan.optimal_count is None else str(plan.optimal_count)
        return f"{variation}, {count}"
    return "–"


def _precision_cell(answer: Dimensioning, ratio: float) -> str:
    for row in answer.table:
        if row.half_width_ratio == ratio:
            if row.count is None:
                return "∞"
            time = "" if row.time_s is None else f" ({format_duration(row.time_s)})"
            return f"{row.count} × {one_line(answer.top_level or '')}{time}"
    return _UNKNOWN


def summary_text(answers: Sequence[tuple[str, Dimensioning]], width: int | None = None) -> str:
    """The table for a terminal; ends with a newline."""
    return "\n".join(plain_table(summary_table(answers), width)) + "\n"
