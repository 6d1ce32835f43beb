"""A table for pull requests and issues."""

from __future__ import annotations

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_results import Experiment
from steelyard.report.formats import ReportFormat
from steelyard.report.kinds.comparison.benchmark_table import benchmarks_sentence
from steelyard.report.kinds.comparison.sentences import (
    further_sentence,
    geometric_mean_sentence,
    magnitude_note,
    together_sentence,
    verdict_sentence,
)
from steelyard.report.kinds.comparison.tables import other_metrics_table
from steelyard.report.kinds.comparison.text import footer_lines, said_alone, summary_table
from steelyard.report.texts.readable import caution_text, labels
from steelyard.report.texts.table import Table

_MARKUP = r"\`*_{}[]()#+!|<>~&@$"


def escaped(text: str) -> str:
    """`text` that Markdown shows as it is, in a table as well."""
    return "".join(
        f"&#{ord(character)};" if character in _MARKUP else character for character in text
    )


def table_lines(table: Table) -> list[str]:
    """A table in the pipe syntax of GitHub and GitLab."""
    rule = [":---" if index in table.left else "---:" for index in range(len(table.headers))]
    rows = [[escaped(cell) for cell in row] for row in (table.headers, *table.rows)]
    return [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]


def render(answer: Answer, experiment: Experiment) -> str:
    """The answer in Markdown: verdicts first, then the tables."""
    names = labels(variant.name for variant in answer.variants)
    lines: list[str] = []
    primary = [c for c in answer.comparisons if c.metric.name == answer.metric.name]
    for comparison in said_alone(primary):
        further = further_sentence(comparison, answer)
        tail = f"; {escaped(further)}" if further else ""
        lines.append(
            f"- **{comparison.verdict}**: {escaped(verdict_sentence(comparison, names))}{tail}"
        )
    counted = benchmarks_sentence(answer)
    lines += [] if counted is None else [f"- {escaped(counted)}"]
    for mean in answer.geometric_means:
        lines.append(f"- **{mean.verdict}**: {escaped(geometric_mean_sentence(mean))}")
    note = magnitude_note(answer)
    lines += ["", escaped(f"({note})")] if note else []
    together = together_sentence(answer)
    lines += ["", escaped(together)] if together else []
    lines += [""] if lines else []
    lines += table_lines(summary_table(answer, names))
    others = other_metrics_table(answer, names)
    if others is not None:
        lines += ["", *table_lines(others)]
    for caution in answer.cautions:
        lines += ["", f"> **Warning:** {escaped(caution_text(caution.message))}"]
    lines += ["", *(f"{escaped(line)}  " for line in footer_lines(answer))]
    return "\n".join(lines).rstrip() + "\n"


EXTENSION = ReportFormat("markdown", ".md", "tables for a pull request", False, render)
