"""The page of an answer."""

from __future__ import annotations

import json
import os
from typing import Any

from steelyard.analysis.results import Answer, Summary
from steelyard.core.model import Experiment
from steelyard.core.units import format_duration
from steelyard.report.html.plotly_script import plotly_script, script_hash
from steelyard.report.html.provenance import (
    command_table,
    design_table,
    failed_trials,
    moment,
    provenance_groups,
)
from steelyard.report.html.verdicts import mean_cards, verdict_cards
from steelyard.report.methods import SUMMARY_NOTES, methods_used
from steelyard.report.plots import plots_in_order
from steelyard.report.plots.drawing import thinning_note
from steelyard.report.sentences import together_sentence
from steelyard.report.tables import Table, other_metrics_table, variant_table
from steelyard.report.terminal import STOPPED
from steelyard.report.wording import labels, one_line, without_surrogates

_FOLDER = os.path.dirname(__file__)
# With few variants their verdicts fill the width; with many they are a list.
_LARGE_CARDS = 3


def html_page(answer: Answer, experiment: Experiment) -> str:
    """One page that shows everything about an answer and loads nothing from anywhere.

    Parameters
    ----------
    answer : Answer
        What to show.
    experiment : Experiment
        Where it came from: commands, host, failed trials.

    Raises
    ------
    MissingCapabilityError
        Plotly's script is not installed.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    view = page_view(answer, experiment)
    script, library = _text_of("page.js"), plotly_script()
    page = environment.get_template("page.html.jinja").render(
        view,
        style=_text_of("page.css"),
        script=script,
        library=library,
        script_sources=f"{script_hash(library)} {script_hash(script)}",
    )
    return without_surrogates(page)


def _text_of(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def page_view(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """Everything that the template shows, as text and tables."""
    names = labels(variant.name for variant in answer.variants)
    cards = verdict_cards(answer, names)
    blocks = max((v.repetitions.get("execution", 0) for v in answer.variants), default=0)
    failed, failed_count = failed_trials(experiment)
    plots, figures = _plots(answer)
    return {
        "title": cards[0].headline if len(cards) == 1 else _title(answer, names),
        "kind": answer.kind,
        "identifier": answer.experiment,
        "started": moment(experiment.created_unix_s),
        "cards": cards,
        "large": len(cards) <= _LARGE_CARDS,
        "means": [] if cards else mean_cards(answer, names),
        "facts": _facts(answer, experiment, blocks),
        "together": together_sentence(answer) or "",
        "cautions": [one_line(caution.message) for caution in answer.cautions],
        "summary": variant_table(answer, answer.metric, names),
        "others": other_metrics_table(answer, names),
        "tests": tests_table(answer, names),
        "plots": plots,
        "figures": embedded_json(figures),
        "thinning": thinning_note(answer),
        "failed": failed,
        "failed_count": failed_count,
        "methods": methods_used(answer),
        "summary_notes": SUMMARY_NOTES,
        "commands": command_table(experiment),
        "design": design_table(experiment, blocks),
        "provenance": provenance_groups(experiment.provenance),
    }


def _title(answer: Answer, names: dict[str, str]) -> str:
    shown = list(names.values())
    few = ", ".join(shown[:3])
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    verb = "Comparison" if answer.comparisons else "Measurement"
    return f"{verb} of {few}{more}"


def _facts(answer: Answer, experiment: Experiment, blocks: int) -> list[tuple[str, str]]:
    """The line below the verdict: what the answer rests on."""
    spent_s = sum(variant.spent_s for variant in answer.variants)
    failed = sum(variant.failed for variant in answer.variants)
    kept = sum(not trial.warmup for trial in experiment.trials)
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


def embedded_json(value: Any) -> Any:
    """JSON that is safe inside a script element, whatever text it holds."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
