"""The page of an answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

from steelyard.analysis.comparison.comparison_results import Answer, Summary
from steelyard.core.experiment_results import Experiment
from steelyard.core.trial_table import TrialTable
from steelyard.core.units import format_duration
from steelyard.report.kinds.comparison.benchmark_table import benchmarks_sentence
from steelyard.report.kinds.comparison.gate_sentences import gate_sentences
from steelyard.report.kinds.comparison.method_notes import SUMMARY_NOTES, methods_used
from steelyard.report.kinds.comparison.sentences import (
    BETTER_WORDS,
    NOT_MEASURED,
    WORSE_WORDS,
    geometric_mean_sentence,
    magnitude_note,
    together_sentence,
)
from steelyard.report.kinds.comparison.shown_parts import STOPPED, summary_table
from steelyard.report.kinds.comparison.tables import other_metrics_table
from steelyard.report.kinds.comparison.verdicts_on_page import Card, mean_cards, verdict_cards
from steelyard.report.pages.provenance_tables import (
    command_table,
    design_table,
    failed_trials,
    moment,
    provenance_groups,
)
from steelyard.report.pages.rendered import embedded_json, scripted_page
from steelyard.report.plots import plots_in_order
from steelyard.report.plots.plot_style import DARK_COLORS, thinning_note
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import caution_text, one_line
from steelyard.report.texts.table import Table

# The words of a verdict column, to the colours of the verdicts.
TONES = {
    **dict.fromkeys(BETTER_WORDS, "faster"),
    **dict.fromkeys(WORSE_WORDS, "slower"),
    "equivalent": "equivalent",
    "undecided": "undecided",
    NOT_MEASURED: "undecided",
}
# A single verdict fills the width, some stand beside each other, and many are a list.
# Of one kind of warning more are folded.
_MOST_OF_A_KIND = 3
_LARGE_CARDS = 1
_MOST_CARDS = 6


def html_page(answer: Answer, experiment: Experiment) -> str:
    """One page that shows everything about an answer and loads nothing from anywhere.

    Parameters
    ----------
    answer : Answer
        What to show.
    experiment : Experiment
        Where it came from: commands, host, failed trials.
    """
    return scripted_page("comparison/page.html.jinja", page_view(answer, experiment))


def page_view(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """Everything that the template shows, as text and tables."""
    names = labels(variant.name for variant in answer.variants)
    cards = verdict_cards(answer, names)
    blocks = answer.block_count
    failed, failed_count = failed_trials(experiment)
    plots, figures = _plots(answer)
    return {
        "tones": TONES,
        "title": page_title(cards, answer, names),
        "kind": answer.kind,
        "identifier": answer.experiment,
        "started": moment(experiment.created_unix_s),
        "cards": cards,
        "large": len(cards) <= _LARGE_CARDS,
        "most_cards": _MOST_CARDS,
        "means": [] if cards else mean_cards(answer, names),
        "facts": _facts(answer, experiment, blocks),
        "together": _together(answer),
        "gates": gate_sentences(answer),
        "cautions": _cautions(answer),
        "summary": summary_table(answer, names),
        "others": other_metrics_table(answer, names),
        "tests": tests_table(answer, names),
        "plots": plots,
        "figures": embedded_json({"figures": figures, "dark": DARK_COLORS}),
        "thinning": thinning_note(answer),
        "failed": failed,
        "failed_count": failed_count,
        "methods": methods_used(answer),
        "summary_notes": SUMMARY_NOTES,
        "commands": command_table(experiment),
        "design": design_table(experiment, blocks),
        "provenance": provenance_groups(experiment.provenance),
    }


def _cautions(answer: Answer) -> list[tuple[list[str], list[str]]]:
    """The warnings of each kind: those that are shown, and those that a reader unfolds."""
    kinds: dict[str, list[str]] = {}
    for caution in answer.cautions:
        kinds.setdefault(caution.code, []).append(caution_text(caution.message))
    return [
        (told, []) if len(told) <= _MOST_OF_A_KIND else (told[:1], told[1:])
        for told in kinds.values()
    ]


def _together(answer: Answer) -> str:
    """What is said of all comparisons together, in sentences."""
    counted = benchmarks_sentence(answer)
    said = [] if counted is None else [f"{counted}."]
    said += [f"{geometric_mean_sentence(mean)}." for mean in answer.geometric_means]
    note = magnitude_note(answer)
    told = None if note is None else f"{note[:1].upper()}{note[1:]}."
    return " ".join(filter(None, (*said, together_sentence(answer), told)))


def page_title(cards: list[Card], answer: Answer, names: dict[str, str]) -> str:
    """The verdict where there is one, how many of each kind where there are several."""
    if len(cards) == 1:
        return cards[0].headline
    if not cards:
        shown = list(names.values())
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        return f"Measurement of {', '.join(shown[:3])}{more}"
    baselines = {comparison.baseline for comparison in answer.comparisons}
    found = Counter(card.word for card in cards)
    counts = ", ".join(f"{count} {word}" for word, count in found.most_common())
    if len(baselines) == 1:
        return f"Against {names[baselines.pop()]}: {counts}"
    return f"{len(cards)} comparisons: {counts}"


def _facts(answer: Answer, experiment: Experiment, blocks: int) -> list[tuple[str, str]]:
    """The line below the verdict: what the answer rests on."""
    spent_s = sum(variant.spent_s for variant in answer.variants)
    failed = sum(variant.failed for variant in answer.variants)
    kept = len(TrialTable.of(experiment.trials).only(warmup=False))
    facts = [
        ("metric", one_line(answer.metric.name)),
        ("blocks", str(blocks)),
        ("trials", str(kept)),
        ("failed", str(failed)),
        ("time spent", format_duration(spent_s)),
    ]
    if answer.stopped is not None:
        facts.append(("stopped", STOPPED[answer.stopped]))
    return facts


def _plots(answer: Answer) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The plots with their places on the page, and the figures that go there."""
    plots: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    for plot in plots_in_order():
        places: list[dict[str, Any]] = []
        for index, panel in enumerate(plot.panels(answer)):
            place = f"{plot.name}-{index}"
            figures[place] = {"data": panel.data, "layout": panel.layout}
            height = panel.layout["height"]
            places.append({"id": place, "height": height, **panel._asdict()})
        if places:
            plots.append({"plot": plot, "panels": places, "table": plot.table(answer)})
    return plots, figures


def tests_table(answer: Answer, names: dict[str, str]) -> Table:
    """Shape and independence of the values of every variant, as tests."""
    rows: list[tuple[str, ...]] = []
    for variant in answer.variants:
        result = variant.metrics.get(answer.metric.name)
        if result is None or result.summary is None:
            continue
        independence = result.independence
        rows.append(
            (
                names[variant.name],
                *_normality(result.summary),
                "–" if independence is None else _p(independence.dependence_p),
                "–" if independence is None else _p(independence.trend_p),
            )
        )
    headers = ("variant", "Shapiro-Wilk W", "p normal", "p independent", "p no trend")
    return Table(headers, tuple(rows))


def _normality(summary: Summary) -> tuple[str, str]:
    if summary.normality is None:
        return "–", "–"
    return f"{summary.normality.statistic:.3f}", _p(summary.normality.p)


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
