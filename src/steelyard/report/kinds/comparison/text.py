"""An answer as text for a terminal or a pipe.

Plain text needs nothing but the standard library, for it is on the way of every measurement;
rich is loaded only where a person looks at a terminal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.report.kinds.comparison.benchmark_table import (
    benchmarks_sentence,
)
from steelyard.report.kinds.comparison.gate_sentences import gate_sentences
from steelyard.report.kinds.comparison.sentences import (
    further_sentence,
    geometric_mean_sentence,
    magnitude_note,
    together_sentence,
    verdict_sentence,
)
from steelyard.report.kinds.comparison.shown_parts import (
    footer_lines,
    name_lines,
    others_table,
    primary_comparisons,
    said_alone,
    summary_table,
    warnings,
)
from steelyard.report.kinds.comparison.styled import rich_text
from steelyard.report.texts.labels import labels
from steelyard.report.texts.plain_table import plain_table, wrapped


def plain_text(answer: Answer, width: int | None = None, hidden: Collection[str] = ()) -> str:
    """The whole answer as plain text that ends with a newline.

    Parameters
    ----------
    answer : Answer
        What to show.
    width : int, optional
        Columns to fit into; by default tables take what they need.
    hidden : collection of str
        Metrics to leave out.
    """
    names = labels(variant.name for variant in answer.variants)
    lines = plain_table(summary_table(answer, names), width)
    others = others_table(answer, names, hidden)
    if others is not None:
        lines += ["", *plain_table(others, width)]
    primary = primary_comparisons(answer)
    lines += [""] if primary else []
    for comparison in said_alone(primary):
        lines += wrapped(verdict_sentence(comparison, names), width)
        further = further_sentence(comparison, answer)
        if further is not None:
            lines += wrapped(further, width, indent="  ")
    counted = benchmarks_sentence(answer)
    lines += [] if counted is None else wrapped(counted, width)
    note = magnitude_note(answer)
    lines += [] if note is None else wrapped(f"({note})", width)
    for mean in answer.geometric_means:
        lines += ["", *wrapped(geometric_mean_sentence(mean), width)]
    together = together_sentence(answer)
    if together is not None:
        lines += ["", *wrapped(together, width)]
    for line in name_lines(names):
        lines += wrapped(line, width)
    lines += _plain_warnings(answer, width)
    gates = gate_sentences(answer)
    lines += [""] if gates else []
    for sentence in gates:
        lines += wrapped(sentence, width)
    footer = [part for line in footer_lines(answer) for part in wrapped(line, width)]
    return "\n".join([*lines, "", *footer]) + "\n"


def _plain_warnings(answer: Answer, width: int | None) -> list[str]:
    lines: list[str] = []
    for warning in warnings(answer):
        lines += ["", *wrapped(f"warning: {warning}", width)]
    return lines


def terminal_text(
    answer: Answer,
    *,
    is_terminal: bool,
    environment: Mapping[str, str],
    width: int = 80,
    hidden: Collection[str] = (),
) -> str:
    """The answer for a stream, without a last newline: plain where the stream is piped or dumb,
    or where colours are not wanted.

    Parameters
    ----------
    answer : Answer
        What to show.
    is_terminal : bool
        Whether the stream is a terminal.
    environment : mapping
        ``TERM`` and ``NO_COLOR`` (https://no-color.org) are looked at.
    width : int
        Columns of the terminal; a pipe has no width.
    hidden : collection of str
        Metrics that nobody asked for and that would only take room.
    """
    if not is_terminal:
        text = plain_text(answer, None, hidden)
    elif environment.get("NO_COLOR") or environment.get("TERM", "") in ("", "dumb"):
        text = plain_text(answer, width, hidden)
    else:
        text = rich_text(answer, width, hidden)
    return text.rstrip("\n")
