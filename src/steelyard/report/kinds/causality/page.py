"""The page of a causality check: the slopes, and the runs that they are drawn through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.profiles.causality_slopes import Observation, Slope
from steelyard.report.drawings.drawing import MUTED
from steelyard.report.kinds.causality.text import causality_table
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import PALETTE, as_plotly_text, axis, layout


def causality_page(slopes: Sequence[Slope], argv: Sequence[str]) -> str:
    """One page that loads nothing from anywhere."""
    delayed = list(dict.fromkeys(slope.delayed for slope in slopes))
    figures = {
        f"delayed-{number}": _figure([slope for slope in slopes if slope.delayed == name])
        for number, name in enumerate(delayed)
    }
    view = {
        "title": f"Who notices when {' '.join(argv)} gets slower?",
        "table": causality_table(slopes),
        "delayed": delayed,
    }
    return plotted_page("causality/page.html.jinja", view, figures)


def _figure(slopes: Sequence[Slope]) -> dict[str, Any]:
    """Attributed time against the program's time, for each profiler and function: Figure 3.7 of
    Mytkowicz (2010), with its line of the slope 1."""
    data: list[dict[str, Any]] = []
    for index, slope in enumerate(slopes):
        color = PALETTE[index % len(PALETTE)]
        points = sorted(slope.observations, key=lambda item: item.program_s)
        x = [item.program_s for item in points]
        y = [item.function_s for item in points]
        found = slope.slope.estimate
        told = "no slope" if found is None else f"{found:.2f}"
        name = as_plotly_text(f"{slope.function} by {slope.profiler}: {told}")
        data.append(
            {
                **{"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y},
                "marker": {"color": color, "symbol": "circle" if slope.role == "delayed" else "x"},
            }
        )
        if found is not None and x:
            line = {"color": color, "width": 1.5}
            data.append(_line(points, found, line))
    delayed = [slope for slope in slopes if slope.role == "delayed" and slope.observations]
    if delayed:
        points = sorted(delayed[0].observations, key=lambda item: item.program_s)
        line = {"color": MUTED, "width": 1, "dash": "dash"}
        data.append(_line(points, 1.0, line) | {"showlegend": True, "name": "actionable: 1.00"})
    figure = layout(420, axis("time of the program [s]"), axis("attributed to the function [s]"))
    figure |= {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
    figure["margin"] = {**figure["margin"], "t": 56 + 18 * (len(slopes) // 3)}
    return {"data": data, "layout": figure}


def _line(points: Sequence[Observation], slope: float, line: dict[str, Any]) -> dict[str, Any]:
    """A line with this slope through the middle of the points."""
    middle_x = sum(item.program_s for item in points) / len(points)
    middle_y = sum(item.function_s for item in points) / len(points)
    ends = [points[0].program_s, points[-1].program_s]
    return {
        **{"type": "scatter", "mode": "lines", "showlegend": False, "x": ends, "line": line},
        "y": [middle_y + slope * (end - middle_x) for end in ends],
        "hoverinfo": "skip",
    }
