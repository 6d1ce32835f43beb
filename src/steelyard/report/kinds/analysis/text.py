"""An analysis of a table as text for people."""

from __future__ import annotations

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.table_analysis import Analysis
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.analysis.level_means_text import coding_sentence, level_means_table
from steelyard.report.kinds.analysis.tables import (
    assumption_lines,
    effects_table,
    fact_lines,
    sources_table,
    tests_table,
)
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, one_line

# Beyond it a list of effects is for a file.
_MOST_EFFECTS = 200
_MOST_MEANS = 40


def headline(found: Analysis) -> str:
    """What was analysed, and how."""
    unit = f" [{one_line(found.unit)}]" if found.unit else ""
    method = ANALYSES.get(found.method).description.partition(":")[0]
    rows = "row" if found.count == 1 else "rows"
    return f"{one_line(found.response)}{unit}: {method}, {found.count} {rows}"


def analysis_text(found: Analysis, _origin: Origin, width: int | None = None) -> str:
    """What may be said, then effects, tests and assumptions; ends with a newline.

    Parameters
    ----------
    found : Analysis
    width : int, optional
        Columns to fit the tables into.
    """
    lines = wrapped(headline(found), width)
    for sentence in found.conclusion:
        lines += wrapped(sentence, width)
    if coding := coding_sentence(found):
        lines += wrapped(coding, width)
    if found.effects:
        table = effects_table(found)
        shown = table._replace(rows=table.rows[:_MOST_EFFECTS])
        lines += ["", *plain_table(shown, width)]
        if len(table.rows) > _MOST_EFFECTS:
            lines.append(f"… and {len(table.rows) - _MOST_EFFECTS} more; --json has all.")
    means = level_means_table(found, _MOST_MEANS)
    if means is not None:
        lines += ["", *plain_table(means, width)]
        if len(found.level_means) > _MOST_MEANS:
            lines.append(f"… and {len(found.level_means) - _MOST_MEANS} more; --json has all.")
    lines += _fit_lines(found, width)
    if found.assumptions:
        lines.append("")
        for line in assumption_lines(found):
            lines += wrapped(line, width)
    if found.cautions:
        lines.append("")
        for caution in found.cautions:
            lines += wrapped(f"warning: {caution_text(caution.message)}", width)
    return "\n".join(lines) + "\n"


def _fit_lines(found: Analysis, width: int | None) -> list[str]:
    lines: list[str] = []
    for table in (sources_table(found), tests_table(found)):
        if table is not None:
            lines += ["", *plain_table(table, width)]
    facts = fact_lines(found)
    if found.r_squared is not None:
        facts.insert(0, f"R²: {found.r_squared:.3f}")
    return [*lines, "", *wrapped("; ".join(facts), width)] if facts else lines
