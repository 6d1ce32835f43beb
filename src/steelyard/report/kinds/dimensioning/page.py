"""The page of dimensionings: where variation arises, and what precision costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.analysis.dimensioning.precision_curves import (
    DesignName,
    precision_curves,
    variance_shares,
)
from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.kinds.dimensioning.summary_text import summary_table
from steelyard.report.kinds.dimensioning.text import (
    levels_table,
    precision_heading,
    precision_table,
    purchase_lines,
)
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import (
    PALETTE,
    as_plotly_text,
    axis,
    layout,
    rows_axis,
)
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import caution_text

DESIGNS: dict[DesignName, str] = {
    "optimum": "best counts",
    "experiment": "counts of the initial experiment",
    "top-only": "only the top level repeated",
    "equal": "every level repeated alike",
}
DASHES: dict[DesignName, str] = {
    "optimum": "solid",
    "experiment": "dash",
    "top-only": "dot",
    "equal": "dashdot",
}
_WANTED_RATIO = 0.01


@dataclass(frozen=True)
class Shown:
    """A dimensioning under the name of its benchmark."""

    name: str
    answer: Dimensioning
    metric: MetricSpec


def dimensioning_page(shown: Sequence[Shown]) -> str:
    """One page for one or several dimensionings; it loads nothing from anywhere."""
    short = labels(item.name for item in shown)
    names = [short[item.name] for item in shown]
    figures = {"variance": _variance_bars(shown, names)}
    for number, item in enumerate(shown):
        curves = _curves(item.answer)
        if curves is not None:
            figures[f"curves-{number}"] = curves
    what = names[0] if len(shown) == 1 else f"{len(shown)} programs"
    view = {
        "title": f"How often to repeat {what}",
        "summary": summary_table([(i.name, i.answer) for i in shown]) if len(shown) > 1 else None,
        "items": [_item(number, item, names[number]) for number, item in enumerate(shown)],
    }
    return plotted_page("dimensioning/page.html.jinja", view, figures)


def _item(number: int, item: Shown, name: str) -> dict[str, Any]:
    answer = item.answer
    return {
        "name": name,
        "curves": f"curves-{number}",
        "levels": levels_table(answer, item.metric.unit),
        "heading": " ".join(precision_heading(answer)) if answer.table else "",
        "precision": precision_table(answer) if answer.table else None,
        "purchase": purchase_lines(answer.purchase, answer) if answer.purchase else [],
        "cautions": [caution_text(caution.message) for caution in answer.cautions],
    }


def _variance_bars(shown: Sequence[Shown], names: Sequence[str]) -> dict[str, Any]:
    """A bar for each benchmark: the variance of a single measurement, by level."""
    shares = [variance_shares(item.answer) for item in shown]
    levels = list(dict.fromkeys(level for found in shares for level in found))
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": as_plotly_text(level),
            "y": list(range(len(shown))),
            "x": [round(100 * found.get(level, 0.0), 3) for found in shares],
            "marker": {"color": PALETTE[index % len(PALETTE)]},
            "hovertemplate": f"{as_plotly_text(level)}: %{{x:.1f}} %<extra></extra>",
        }
        for index, level in enumerate(levels)
    ]
    figure = layout(
        110 + 34 * len(shown),
        axis("part of the variance of a single measurement [%]", range=[0, 100]),
        rows_axis(names),
        barmode="stack",
    )
    figure |= {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
    figure["margin"] = {**figure["margin"], "t": 40}
    return {"data": bars, "layout": figure}


def _curves(answer: Dimensioning) -> dict[str, Any] | None:
    """Half-width against time for each design, both logarithmic."""
    curves = precision_curves(answer)
    if not curves:
        return None
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": DESIGNS[curve.name],
            "x": [float(f"{point.time_s:.4g}") for point in curve.points],
            "y": [float(f"{100 * point.half_width_ratio:.4g}") for point in curve.points],
            "text": [f"{point.count} × {answer.top_level}" for point in curve.points],
            "line": {
                "color": PALETTE[index],
                "width": 3 if curve.name == "optimum" else 1.5,
                "dash": "solid"
                if curve.name == "optimum"
                else ("dash", "dot", "dashdot")[index % 3],
            },
            "hovertemplate": "%{x:.3g} s: ± %{y:.2g} %, %{text}<extra></extra>",
        }
        for index, curve in enumerate(curves)
    ]
    wanted = {
        **{"type": "line", "xref": "paper", "x0": 0, "x1": 1},
        **{"y0": 100 * _WANTED_RATIO, "y1": 100 * _WANTED_RATIO},
        "line": {"width": 1, "dash": "dot", "color": "#8a8f98"},
    }
    figure = layout(
        380,
        axis("time [s]", type="log"),
        axis("half-width of the mean's interval [%]", type="log"),
        shapes=[wanted],
    )
    figure |= {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
    figure["margin"] = {**figure["margin"], "t": 56}
    return {"data": lines, "layout": figure}
