"""An answer as text for a terminal or a pipe.

Plain text needs nothing but the standard library, for it is on the way of every measurement;
rich is loaded only where a person looks at a terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.comparison_results import Answer, Comparison
from steelyard.core.units import format_duration
from steelyard.report.kinds.comparison.benchmark_table import (
    benchmark_comparisons,
    benchmark_table,
    benchmarks_sentence,
)
from steelyard.report.kinds.comparison.gate_sentences import gate_sentences
from steelyard.report.kinds.comparison.sentences import (
    BETTER_WORDS,
    WORSE_WORDS,
    further_sentence,
    geometric_mean_sentence,
    magnitude_note,
    precision_sentence,
    steadier_sentence,
    together_sentence,
    unseen_sentences,
    verdict_sentence,
)
from steelyard.report.kinds.comparison.tables import other_metrics_table, variant_table
from steelyard.report.texts.labels import full_names, labels
from steelyard.report.texts.plain_table import fitted_parts, plain_table, wrapped
from steelyard.report.texts.readable import caution_text, elided, one_line
from steelyard.report.texts.table import UNAVAILABLE, Table

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"faster": "bold green", "slower": "bold red", "equivalent": "bold cyan"}
_UNDECIDED_STYLE = "bold yellow"
# More benchmarks than these are told by the table alone.
MOST_SENTENCES = 6
_MOST_NAMES = 8
_SHOWN_NAME = 300
STOPPED = {
    "precision": "precision reached",
    "decided": "every verdict decided",
    "budget": "budget used up",
    "runs": "all runs done",
    "interrupted": "interrupted",
    "failures": "too many failed trials",
}


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
    others = _others(answer, names, hidden)
    if others is not None:
        lines += ["", *plain_table(others, width)]
    primary = _primary(answer)
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


def _primary(answer: Answer) -> list[Comparison]:
    return [c for c in answer.comparisons if c.metric.name == answer.metric.name]


def summary_table(answer: Answer, names: Mapping[str, str]) -> Table:
    """The table of the answer's metric: a row a benchmark where there are several, else a row a
    variant."""
    if benchmark_comparisons(answer):
        return benchmark_table(answer, answer.metric)
    return variant_table(answer, answer.metric, names)


def _others(answer: Answer, names: Mapping[str, str], hidden: Collection[str]) -> Table | None:
    """The table of other metrics; of many benchmarks the report alone has it."""
    if len(benchmark_comparisons(answer)) > MOST_SENTENCES:
        return None
    return other_metrics_table(answer, names, hidden)


def said_alone(comparisons: Sequence[Comparison]) -> Sequence[Comparison]:
    """Those that get a sentence of their own: of many benchmarks the table says it."""
    in_table = len(comparisons) > MOST_SENTENCES and comparisons[0].benchmark
    return () if in_table else comparisons


def warnings(answer: Answer) -> list[str]:
    """One warning of each kind: the last, since those on a ratio follow those on its variants.

    The report has all of them.
    """
    last = {caution.code: caution for caution in answer.cautions}
    count = Counter(caution.code for caution in answer.cautions)
    return [
        caution_text(caution.message) + _and_more(count[caution.code] - 1)
        for caution in last.values()
    ]


def _and_more(count: int) -> str:
    return f" ({count} more of this kind in the report.)" if count else ""


def name_lines(names: Mapping[str, str]) -> list[str]:
    """The full names of labels that say less, after an empty line; nothing where none does."""
    found = [f"{label} is {elided(name, _SHOWN_NAME)}" for label, name in full_names(names)]
    if len(found) > _MOST_NAMES:
        found = [*found[:_MOST_NAMES], "`steelyard show` has the full names of the others"]
    return ["", *found] if found else []


def _plain_warnings(answer: Answer, width: int | None) -> list[str]:
    lines: list[str] = []
    for warning in warnings(answer):
        lines += ["", *wrapped(f"warning: {warning}", width)]
    return lines


def footer_lines(answer: Answer) -> list[str]:
    """What the answer cost, why it stopped, and how to see more of it."""
    spent_s = sum(variant.spent_s for variant in answer.variants)
    blocks = answer.block_count
    parts = [f"{blocks} block{'' if blocks == 1 else 's'}"]
    if answer.levelled:
        parts[-1] += f" ({repetitions_text(answer)})"
    # What was imported took its time elsewhere, and another tool ended it.
    if spent_s > 0.0:
        parts.insert(0, f"spent {format_duration(spent_s)}")
    if answer.stopped is not None and answer.resumable:
        parts.append(f"stopped: {STOPPED[answer.stopped]}")
    return [
        *unseen_sentences(answer),
        ", ".join(parts),
        *filter(None, [precision_sentence(answer), steadier_sentence(answer)]),
        f"experiment {answer.experiment}; report: steelyard report {answer.experiment}",
    ]


def repetitions_text(answer: Answer) -> str:
    """How often each level was repeated in one of the level above: ``5 build x 3 execution``."""
    names = dict.fromkeys(name for v in answer.variants for name in v.repetitions)
    counts = {n: max(v.repetitions.get(n, 0) for v in answer.variants) for n in names}
    if counts.get("iteration", 0) < 2:
        counts.pop("iteration", None)
    return " x ".join(f"{count} {one_line(name)}" for name, count in counts.items())


def rich_text(answer: Answer, width: int, hidden: Collection[str] = ()) -> str:
    """The whole answer with colours and table lines, for a terminal of `width` columns."""
    import io

    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=True,
        color_system="standard",
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    names = labels(variant.name for variant in answer.variants)
    console.print()
    _print_table(console, summary_table(answer, names))
    others = _others(answer, names, hidden)
    if others is not None:
        console.print()
        _print_table(console, others)
    _print_sentences(console, answer, names)
    gates = gate_sentences(answer)
    if gates:
        console.print()
    for sentence in gates:
        failed = sentence.startswith("gate failed")
        console.print(Text(sentence, style="bold red" if failed else "green"))
    console.print()
    for line in footer_lines(answer):
        console.print(line, style="dim", markup=False)
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


def _print_sentences(console: Console, answer: Answer, names: Mapping[str, str]) -> None:
    """The verdicts, what they mean together, and what to know beside them."""
    from rich.text import Text

    primary = _primary(answer)
    if primary:
        console.print()
    for comparison in said_alone(primary):
        _print_comparison(console, comparison, answer, names)
    counted = benchmarks_sentence(answer)
    if counted is not None:
        console.print(counted, markup=False)
    note = magnitude_note(answer)
    if note is not None:
        console.print(Text(f"({note})", style="dim"))
    for mean in answer.geometric_means:
        style = _STYLES.get(mean.verdict, _UNDECIDED_STYLE)
        console.print()
        console.print(Text(geometric_mean_sentence(mean), style=style))
    together = together_sentence(answer)
    if together is not None:
        console.print()
        console.print(together, style="dim", markup=False)
    for line in name_lines(names):
        console.print(line, style="dim", markup=False)
    for warning in warnings(answer):
        console.print()
        console.print(Text.assemble(("warning: ", _UNDECIDED_STYLE), warning))


def _print_table(console: Console, table: Table) -> None:
    # Rich draws one column before and one after the cells of a column.
    parts = fitted_parts(table, console.width - 2, gap=2)
    for index, part in enumerate(parts):
        if index:
            console.print()
        _print_part(console, part)


def _print_part(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=True, show_edge=False)
    for index, header in enumerate(table.headers):
        left = index in table.left
        shown.add_column(
            Text(header),
            justify="left" if left else "right",
            no_wrap=not left,
            style="bold" if header.startswith("mean") else "",
            overflow="fold",
        )
    for row in table.rows:
        shown.add_row(*(Text(cell, style=_STYLES_OF_CELLS.get(cell, "")) for cell in row))
    console.print(shown)


_STYLES_OF_CELLS = {
    **dict.fromkeys(BETTER_WORDS, "green"),
    **dict.fromkeys(WORSE_WORDS, "red"),
    "equivalent": "cyan",
    "undecided": "yellow",
    UNAVAILABLE: "dim",
}


def _print_comparison(
    console: Console, comparison: Comparison, answer: Answer, names: Mapping[str, str]
) -> None:
    from rich.text import Text

    style = _STYLES.get(comparison.verdict, _UNDECIDED_STYLE)
    console.print(Text(verdict_sentence(comparison, names), style=style))
    further = further_sentence(comparison, answer)
    if further is not None:
        console.print(Text(f"  {further}"))


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
