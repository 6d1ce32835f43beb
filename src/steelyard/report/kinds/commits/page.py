"""The pages of predictions about commits."""

from __future__ import annotations

from typing import Any

from steelyard.core.estimate import Estimate
from steelyard.predict.commits.commit_answers import CommitAnswer
from steelyard.predict.commits.predictor_evaluation import CommitEvaluation
from steelyard.report.kinds.commits.tables import answers_table, scores_table
from steelyard.report.kinds.commits.text import (
    answer_headline,
    answer_sentences,
    evaluation_headline,
    evaluation_sentences,
)
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import PALETTE, as_plotly_text, axis, layout, rows_axis
from steelyard.report.texts.readable import caution_text
from steelyard.report.texts.table import Table

_ROW = 26


def answer_page(answer: CommitAnswer) -> str:
    """The page of ``ask``; loads nothing from anywhere.

    Raises
    ------
    MissingCapabilityError
        Plotly's script is not installed.
    """
    ordered = sorted(answer.benchmarks, key=lambda one: -one.probability.estimate)[:100]
    names = [f"{one.benchmark} {one.unknown}".strip() for one in ordered]
    points = [one.probability for one in ordered]
    colours = [PALETTE[0] if one.run else "#6B7B8C" for one in ordered]
    figure = _points(names, points, colours, "probability of a change")
    how = "Dots are probabilities with their bounds; grey benchmarks can be skipped."
    tables = ((answers_table(answer), "Every benchmark"),)
    heads = (answer_headline(answer), answer_sentences(answer))
    return _page("prediction", heads, answer.cautions, ("Benchmarks", how, tables), figure)


def evaluation_page(found: CommitEvaluation) -> str:
    """The page of ``evaluate``; as `answer_page`."""
    names: list[str] = []
    points: list[Estimate] = []
    colours: list[str] = []
    for score in found.scores:
        for word, value, colour in (
            ("hit rate", score.rates.all.hit_rate, PALETTE[0]),
            ("dismiss rate", score.rates.all.dismiss_rate, PALETTE[1]),
        ):
            if isinstance(value, Estimate):
                names.append(f"{score.design} {score.part} {score.model}: {word}")
                points.append(value)
                colours.append(colour)
    figure = _points(names, points, colours, "share")
    how = "Dots are rates over all pairs with Wilson's bounds at 95 %. Further right is better."
    tables = ((scores_table(found), "Every design"),)
    heads = (evaluation_headline(found), evaluation_sentences(found))
    return _page("evaluation", heads, found.cautions, ("Rates", how, tables), figure)


def _points(
    names: list[str], points: list[Estimate], colours: list[str], title: str
) -> dict[str, Any]:
    data = {
        "type": "scatter",
        "mode": "markers",
        "x": [point.estimate for point in points],
        "y": list(range(len(points))),
        "text": [as_plotly_text(name) for name in names],
        "marker": {"color": colours, "size": 9},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [point.high - point.estimate for point in points],
            "arrayminus": [point.estimate - point.low for point in points],
        },
    }
    figure = layout(90 + _ROW * len(points), axis(title), rows_axis(names))
    return {"data": [data], "layout": figure}


def _page(
    what: str,
    heads: tuple[str, list[str]],
    cautions: Any,
    section: tuple[str, str, tuple[tuple[Table, str], ...]],
    figure: dict[str, Any],
) -> str:
    title, how, tables = section
    view = {
        "what": what,
        "title": heads[0],
        "lines": heads[1],
        "cautions": [caution_text(caution.message) for caution in cautions],
        "section": {"title": title, "how": how, "tables": tables},
    }
    return plotted_page("commits/page.html.jinja", view, {"points": figure})
