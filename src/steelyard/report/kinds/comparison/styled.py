"""The text of a comparison for a terminal that shows colours."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.comparison_results import Answer, Comparison
from steelyard.report.kinds.comparison.benchmark_table import (
    benchmarks_sentence,
)
from steelyard.report.kinds.comparison.gate_sentences import gate_sentences
from steelyard.report.kinds.comparison.sentences import (
    BETTER_WORDS,
    NOT_MEASURED,
    WORSE_WORDS,
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
from steelyard.report.texts.labels import labels
from steelyard.report.texts.plain_table import fitted_parts
from steelyard.report.texts.table import UNAVAILABLE, Table

if TYPE_CHECKING:
    from rich.console import Console


_STYLES = {"faster": "bold green", "slower": "bold red", "equivalent": "bold cyan"}
_UNDECIDED_STYLE = "bold yellow"


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
    others = others_table(answer, names, hidden)
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

    primary = primary_comparisons(answer)
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
    NOT_MEASURED: "yellow",
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
