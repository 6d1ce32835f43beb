"""Each value against the one after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.analysis.comparison.plot_series import lag_pairs
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
    series_of,
)
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _panel(series: Series, unit: str) -> Panel:
    earlier, later = lag_pairs(series.values, limit=POINTS_LIMIT)
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": list(earlier),
        "y": list(later),
        "marker": {"color": series.color, "size": 6, "opacity": 0.6},
        "hovertemplate": "%{x}, then %{y}<extra></extra>",
    }
    figure = layout(250, axis(f"a value {unit}"), axis(f"the next {unit}"))
    return Panel(series.label, [points], figure, f"Lag plot of {series.label}")


def _unit(answer: Answer) -> str:
    _, bracket, unit = metric_title(answer).rpartition("[")
    return f"[{unit}" if bracket else ""


def panels(answer: Answer) -> list[Panel]:
    """One figure a variant."""
    unit = _unit(answer)
    return [_panel(series, unit) for series in series_of(answer, at_least=3)]


def draw(answer: Answer, figure: Figure) -> None:
    """Draw a grid with one variant each."""
    found, unit = series_of(answer, at_least=3), _unit(answer)
    for axes, series in zip(grid(figure, len(found)), found, strict=True):
        earlier, later = lag_pairs(series.values, limit=POINTS_LIMIT)
        axes.scatter(earlier, later, s=9, color=series.color, alpha=0.6, linewidths=0)
        axes.set_title(as_matplotlib_text(series.label))
        axes.set_xlabel(f"a value {unit}")
        axes.set_ylabel(f"the next {unit}")


def table(answer: Answer) -> Table | None:
    """The pairs of every variant."""
    rows: list[tuple[str, ...]] = []
    found = series_of(answer, at_least=3)
    for series in found:
        pairs = lag_pairs(series.values, limit=max(10, TABLE_LIMIT // len(found)))
        rows += [(series.label, f"{a:g}", f"{b:g}") for a, b in zip(*pairs, strict=True)]
    unit = _unit(answer)
    return Table(("variant", f"a value {unit}", f"the next {unit}"), tuple(rows)) if rows else None


EXTENSION = Plot(
    name="lag",
    title="Is the next value foretold by this one?",
    caption=(
        "A shapeless cloud is what independent executions give. A line, a curve or separate "
        "clusters mean that the program or the machine remembers."
    ),
    order=5,
    panels=panels,
    draw=draw,
    table=table,
)
