"""The page of a causality check: the slopes, and the runs that they are drawn through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.causality import Slope
from steelyard.report.causality_text import causality_table
from steelyard.report.html.rendered import plotted_page
from steelyard.report.plots.drawing import PALETTE, as_plotly_text, axis, layout


def causality_page(slopes: Sequence[Slope], argv: Sequence[str]) -> str:
    """One page that loads nothing from anywhere.

    Raises
    ------
    MissingCapabilityError
        Plotly's script is not installed.
    """
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
    return plotted_page("causality.html.jinja", view, figures)


def _figure(slopes: Sequence[Slope]) -> dict[str, Any]:
    """Attributed time against the program's time, for each profiler and function."""
    data: list[dict[str, Any]] = []
    for index, slope in enumerate(slopes):
        color = PALETTE[index % len(PALETTE)]
        points = sorted(slope.observations, key=lambda item: item.program_s)
        x = [item.program_s for item in points]
        y = [item.function_s for item in points]
        name = as_plotly_text(f"{slope.function} by {slope.profiler}")
        data.append(
            {
                **{"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y},
                "marker": {"color": color, "symbol": "circle" if slope.role == "delayed" else "x"},
            }
        )
        if slope.slope.estimate is not None and x:
            middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
            ends = [x[0], x[-1]]
            data.append(
                {
                    **{"type": "scatter", "mode": "lines", "showlegend": False, "x": ends},
                    "y": [middle_y + slope.slope.estimate * (end - middle_x) for end in ends],
                    "line": {"color": color, "width": 1.5},
                    "hoverinfo": "skip",
                }
            )
    figure = layout(360, axis("time of the program [s]"), axis("attributed to the function [s]"))
    figure |= {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
    figure["margin"] = {**figure["margin"], "t": 56}
    return {"data": data, "layout": figure}
