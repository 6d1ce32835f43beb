"""A table for pull requests and issues."""

from __future__ import annotations

import re

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_results import Experiment
from steelyard.report.formats import ReportFormat
from steelyard.report.kinds.comparison.benchmark_table import benchmarks_sentence
from steelyard.report.kinds.comparison.gate_sentences import gate_sentences
from steelyard.report.kinds.comparison.sentences import (
    NOT_MEASURED,
    further_sentence,
    geometric_mean_sentence,
    is_measured,
    magnitude_note,
    together_sentence,
    verdict_sentence,
)
from steelyard.report.kinds.comparison.shown_parts import footer_lines, said_alone, summary_table
from steelyard.report.kinds.comparison.tables import other_metrics_table
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import caution_text
from steelyard.report.texts.table import Table

# What starts or ends markup anywhere in a line; the rest is plain where it stands.
_MARKUP = "\\`*<>|&~"
# After a bracket these make a link, or the definition of one.
_OF_LINKS = "([:"
_WORD = re.compile(r"\w")


def escaped(text: str) -> str:
    """`text` that Markdown shows as it is, in a table as well.

    As few characters as possible are written by their number, so that who reads the source, or a
    mail of it, reads words: an underscore inside a word and a bracket are left as they are.
    """
    return "".join(_escaped(text, place) for place in range(len(text)))


def _escaped(text: str, place: int) -> str:
    character = text[place]
    before = text[place - 1] if place else " "
    after = text[place + 1] if place + 1 < len(text) else " "
    inside_word = _WORD.match(before) and _WORD.match(after)
    at_start = place == 0 or not text[:place].strip()
    is_markup = (
        character in _MARKUP
        or (character == "_" and not inside_word)
        or (character == "]" and after in _OF_LINKS)
        # A box to tick, at the start of an item.
        or (character == "[" and at_start)
        # Names of people and numbers of issues, and formulas, of GitHub and GitLab.
        or (character in "@#" and bool(_WORD.match(after)))
        or character == "$"
        or (character in "+-" and at_start and after == " ")
        or (character == "#" and at_start)
        or (character == "!" and after == "[")
    )
    return f"&#{ord(character)};" if is_markup else character


def table_lines(table: Table) -> list[str]:
    """A table in the pipe syntax of GitHub and GitLab."""
    rule = [":---" if index in table.left else "---:" for index in range(len(table.headers))]
    rows = [[escaped(cell) for cell in row] for row in (table.headers, *table.rows)]
    return [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]


def told_rows(table: Table) -> Table:
    """The table of other metrics without those of which nothing can be said: values that are
    mostly 0, whose ratios have no bounds."""
    kept: list[tuple[str, ...]] = []
    for group in _groups(table.rows):
        if not any("unbounded" in row for row in group):
            kept += group
    return table._replace(rows=tuple(kept))


def _groups(rows: tuple[tuple[str, ...], ...]) -> list[list[tuple[str, ...]]]:
    """The rows of each metric, whose name stands in the first of them."""
    found: list[list[tuple[str, ...]]] = []
    for row in rows:
        if row[0] or not found:
            found.append([])
        found[-1].append(row)
    return found


def render(answer: Answer, experiment: Experiment) -> str:
    """The answer in Markdown: verdicts first, then the tables."""
    names = labels(variant.name for variant in answer.variants)
    lines = [f"- **{sentence}**" for sentence in map(escaped, gate_sentences(answer))]
    primary = [c for c in answer.comparisons if c.metric.name == answer.metric.name]
    for comparison in said_alone(primary):
        further = further_sentence(comparison, answer)
        tail = f"; {escaped(further)}" if further else ""
        word = comparison.verdict if is_measured(comparison) else NOT_MEASURED
        lines.append(f"- **{word}**: {escaped(verdict_sentence(comparison, names))}{tail}")
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
        lines += ["", *table_lines(told_rows(others))]
    for caution in answer.cautions:
        lines += ["", f"> **Warning:** {escaped(caution_text(caution.message))}"]
    lines += ["", *(f"{escaped(line)}  " for line in footer_lines(answer))]
    return "\n".join(lines).rstrip() + "\n"


EXTENSION = ReportFormat("markdown", ".md", "tables for a pull request", False, render)
