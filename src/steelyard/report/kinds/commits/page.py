"""The pages of predictions about commits."""

from __future__ import annotations

from dataclasses import dataclass
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

# Of a row whose name takes one line, and two.
_ROW, _ROW_OF_TWO = 26, 40
_APART = 0.17


@dataclass(frozen=True)
class _Dot:
    """An estimate in a row of the plot, by its place from the top."""

    row: float
    point: Estimate
    colour: str
    name: str


def answer_page(answer: CommitAnswer) -> str:
    """The page of ``ask``; loads nothing from anywhere.

    Raises
    ------
    MissingCapabilityError
        Plotly's script is not installed.
    """
    ordered = sorted(answer.benchmarks, key=lambda one: -one.probability.estimate)[:100]
    names = [f"{one.benchmark} {one.unknown}".strip() for one in ordered]
    dots = [
        _Dot(row, one.probability, PALETTE[0] if one.run else "#6B7B8C", name)
        for row, (one, name) in enumerate(zip(ordered, names, strict=True))
    ]
    figure = _plot(names, dots, "probability of a change")
    how = "Dots are probabilities with their bounds; grey benchmarks can be skipped."
    tables = ((answers_table(answer), "Every benchmark"),)
    heads = (answer_headline(answer), answer_sentences(answer))
    return _page("prediction", heads, answer.cautions, ("Benchmarks", how, tables), figure)


def evaluation_page(found: CommitEvaluation) -> str:
    """The page of ``evaluate``; as `answer_page`."""
    names: list[str] = []
    dots: list[_Dot] = []
    for row, score in enumerate(found.scores):
        names.append(" ".join(filter(None, (score.design, score.part, score.model))))
        for word, value, colour, side in (
            ("hit rate", score.rates.all.hit_rate, PALETTE[0], -_APART),
            ("dismiss rate", score.rates.all.dismiss_rate, PALETTE[1], _APART),
        ):
            if isinstance(value, Estimate):
                dots.append(_Dot(row + side, value, colour, f"{names[-1]}: {word}"))
    figure = _plot(names, dots, "share")
    how = (
        "Dots are rates over all pairs with Wilson's bounds at 95 %: the upper one of each row "
        "(blue) is the hit rate, the lower one (orange) the dismiss rate. Further right is better."
    )
    tables = ((scores_table(found), "Every design"),)
    heads = (evaluation_headline(found), evaluation_sentences(found))
    return _page("evaluation", heads, found.cautions, ("Rates", how, tables), figure)


def _plot(names: list[str], dots: list[_Dot], title: str) -> dict[str, Any]:
    data = {
        "type": "scatter",
        "mode": "markers",
        "x": [dot.point.estimate for dot in dots],
        "y": [dot.row for dot in dots],
        "text": [as_plotly_text(dot.name) for dot in dots],
        "marker": {"color": [dot.colour for dot in dots], "size": 9},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [dot.point.high - dot.point.estimate for dot in dots],
            "arrayminus": [dot.point.estimate - dot.point.low for dot in dots],
        },
    }
    rows = rows_axis(names)
    height = _ROW_OF_TWO if any("<br>" in text for text in rows["ticktext"]) else _ROW
    figure = layout(90 + height * len(names), axis(title), rows)
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
