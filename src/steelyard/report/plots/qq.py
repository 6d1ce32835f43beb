"""The ordered values against those of a normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.analysis.comparison.plot_series import QuantilePoints
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.plot_style import (
    POINTS_LIMIT,
    TABLE_LIMIT,
    Series,
    as_matplotlib_text,
    axis,
    grid,
    layout,
    metric_title,
    rounded,
    series_of,
)
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _line(points: QuantilePoints) -> tuple[list[float], list[float]]:
    ends = [points.theoretical[0], points.theoretical[-1]]
    return ends, [points.intercept + points.slope * end for end in ends]


def _panel(series: Series, title: str) -> Panel:
    points = series.quantiles(POINTS_LIMIT)
    ends, heights = _line(points)
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": heights,
        "line": {"color": "#8a8f98", "width": 1},
        "hoverinfo": "skip",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": rounded(points.theoretical),
        "y": list(points.observed),
        "marker": {"color": series.color, "size": 6, "opacity": 0.7},
        "hovertemplate": "%{y} at %{x:.2f}<extra></extra>",
    }
    figure = layout(250, axis("standard normal quantile"), axis(title))
    return Panel(series.label, [line, dots], figure, f"Normal Q-Q plot of {series.label}")


def panels(answer: Answer) -> list[Panel]:
    """One figure a variant."""
    title = metric_title(answer)
    return [_panel(series, title) for series in series_of(answer, at_least=3)]


def draw(answer: Answer, figure: Figure) -> None:
    """Draw a grid with one variant each."""
    found = series_of(answer, at_least=3)
    for axes, series in zip(grid(figure, len(found)), found, strict=True):
        points = series.quantiles(POINTS_LIMIT)
        axes.plot(*_line(points), color="#8a8f98", linewidth=1)
        axes.scatter(
            points.theoretical, points.observed, s=9, color=series.color, alpha=0.7, linewidths=0
        )
        axes.set_title(as_matplotlib_text(series.label))
        axes.set_xlabel("standard normal quantile")
        axes.set_ylabel(metric_title(answer))


def table(answer: Answer) -> Table | None:
    """The points of every variant."""
    found = series_of(answer, at_least=3)
    rows: list[tuple[str, ...]] = []
    for series in found:
        points = series.quantiles(max(10, TABLE_LIMIT // len(found)))
        rows += [
            (series.label, f"{x:.3f}", f"{y:g}")
            for x, y in zip(points.theoretical, points.observed, strict=True)
        ]
    headers = ("variant", "standard normal quantile", metric_title(answer))
    return Table(headers, tuple(rows)) if rows else None


EXTENSION = Plot(
    name="qq",
    title="Are the values normally distributed?",
    caption=(
        "Points along the line look normal. Ends that bend away mean outliers or a long tail: "
        "with few blocks the intervals are then less sure than they say, with many it hardly "
        "matters."
    ),
    order=6,
    panels=panels,
    draw=draw,
    table=table,
)
