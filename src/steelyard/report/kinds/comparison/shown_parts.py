"""What the texts of a comparison have in common: tables, warnings, lines below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from steelyard.analysis.comparison.comparison_results import Answer, Comparison
from steelyard.core.units import format_duration
from steelyard.report.kinds.comparison.benchmark_table import (
    benchmark_comparisons,
    benchmark_table,
)
from steelyard.report.kinds.comparison.sentences import (
    precision_sentence,
    steadier_sentence,
    unseen_sentences,
)
from steelyard.report.kinds.comparison.tables import other_metrics_table, variant_table
from steelyard.report.texts.labels import full_names
from steelyard.report.texts.readable import caution_text, elided, one_line
from steelyard.report.texts.table import Table

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


def primary_comparisons(answer: Answer) -> list[Comparison]:
    """Those of the metric that was asked for first."""
    return [c for c in answer.comparisons if c.metric.name == answer.metric.name]


def summary_table(answer: Answer, names: Mapping[str, str]) -> Table:
    """The table of the answer's metric: a row a benchmark where there are several, else a row a
    variant."""
    if benchmark_comparisons(answer):
        return benchmark_table(answer, answer.metric)
    return variant_table(answer, answer.metric, names)


def others_table(answer: Answer, names: Mapping[str, str], hidden: Collection[str]) -> Table | None:
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
