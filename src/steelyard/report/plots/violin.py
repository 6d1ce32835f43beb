"""The distribution of every variant, with each value beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.analysis.distributions.modes import density_bandwidth
from steelyard.report.kinds.comparison.tables import variant_table
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.drawing import (
    DENSITY_POINTS,
    Series,
    axis,
    capped,
    layout,
    metric_title,
    name_rows,
    plot_labels,
    relative_bandwidth,
    rows_axis,
    series_of,
)
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW_PIXELS = 84


def _trace(row: int, series: Series) -> dict[str, Any]:
    return {
        "type": "violin",
        "orientation": "h",
        "x": capped(series.values),
        "y0": row,
        "name": series.text,
        "side": "negative",
        "width": 1.1,
        "points": "all",
        "pointpos": 0.22,
        "jitter": 0.22,
        "spanmode": "hard",
        **_bandwidth(series),
        "hoveron": "points",
        "hoverinfo": "x+name",
        "marker": {"size": 4, "opacity": 0.65, "color": series.color},
        "line": {"color": series.color, "width": 1.5},
        "box": {"visible": True, "width": 0.16},
    }


def _bandwidth(series: Series) -> dict[str, float]:
    """The bandwidth by which modes stay apart; empty where nothing varies."""
    found = density_bandwidth(capped(series.values))
    return {} if found is None else {"bandwidth": found}


def panels(answer: Answer) -> list[Panel]:
    """One figure with a violin a variant."""
    found = series_of(answer, at_least=2)
    if not found:
        return []
    rows = rows_axis([series.label for series in found])
    figure = layout(70 + _ROW_PIXELS * len(found), axis(metric_title(answer)), rows)
    return [Panel("", [_trace(*pair) for pair in enumerate(found)], figure, EXTENSION.title)]


def draw(answer: Answer, figure: Figure) -> None:
    """Draw half a violin a variant, with its values below."""
    found = series_of(answer, at_least=2)
    figure.set_size_inches(7.2, 1.0 + 0.8 * len(found))
    axes = figure.subplots()
    for row, series in enumerate(found):
        values = capped(series.values)
        parts: Any = axes.violinplot(
            [values], [row], orientation="horizontal", widths=0.8, side="low", showextrema=False,
            points=DENSITY_POINTS, bw_method=relative_bandwidth(values),
        )  # fmt: skip
        for body in parts["bodies"]:
            body.set(facecolor=series.color, edgecolor=series.color, alpha=0.35)
        spread = [row + 0.1 + 0.16 * (index * 0.618 % 1) for index in range(len(values))]
        axes.scatter(values, spread, s=6, color=series.color, alpha=0.6, linewidths=0)
        axes.boxplot(
            [values],
            positions=[row],
            orientation="horizontal",
            widths=0.1,
            showfliers=False,
            manage_ticks=False,
            boxprops={"color": series.color},
            medianprops={"color": series.color, "linewidth": 2},
            whiskerprops={"color": series.color},
            capprops={"color": series.color},
        )
    name_rows(axes, [series.label for series in found])
    axes.set_ylim(len(found) - 0.4, -0.7)
    axes.set_xlabel(metric_title(answer))


def table(answer: Answer) -> Table | None:
    """Location and spread of every variant."""
    return variant_table(answer, answer.metric, plot_labels(answer)) if answer.variants else None


EXTENSION = Plot(
    name="violin",
    title="How are the values spread?",
    caption=(
        "Each dot is one execution, or the mean of one build where builds were repeated. "
        "The shape is wide where values are common; the box holds the middle half of them, with "
        "a line at the median. Two humps mean "
        "two ways in which the program runs: look for the cause before you trust a mean."
    ),
    order=2,
    panels=panels,
    draw=draw,
    table=table,
)
