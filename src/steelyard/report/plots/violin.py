"""The distribution of every variant, with each value beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.analysis.distributions.kernel_density import kernel_density
from steelyard.report.kinds.comparison.tables import variant_table
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.plot_style import (
    DENSITY_POINTS,
    Series,
    axis,
    capped,
    layout,
    metric_title,
    name_rows,
    plot_labels,
    relative_bandwidth,
    rounded,
    rows_axis,
    series_of,
)
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW_PIXELS = 84
# Along the shape: enough for its narrowest hump.
_SHAPE_POINTS = 240
_SHAPE_HEIGHT = 0.5
# Multiples of it spread evenly, however many there are.
_GOLDEN = 0.618
_LINES: dict[str, Any] = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}


def _traces(row: int, series: Series) -> list[dict[str, Any]]:
    """Half a violin, its box and its values, of lines and points alone."""
    values = capped(series.values)
    return [*_shape(row, series, values), *_box(row, series), _points(row, series, values)]


def _shape(row: int, series: Series, values: list[float]) -> list[dict[str, Any]]:
    found = kernel_density(values, _SHAPE_POINTS)
    if found is None:
        return []
    places, densities = found
    # One step more at each end closes the shape; even steps need no places of their own.
    step = float(places[1] - places[0])
    heights = [round(float(d), 3) for d in row - _SHAPE_HEIGHT * densities / densities.max()]
    return [
        {
            **_LINES,
            "x0": rounded([places[0] - step])[0],
            "dx": step,
            "y": [row, *heights, row],
            "fill": "toself",
            "line": {"color": series.color, "width": 1.5},
            "opacity": 0.55,
        }
    ]


def _box(row: int, series: Series) -> list[dict[str, Any]]:
    """The middle half as a thick line, and the median as a mark."""
    summary = series.result.summary
    if summary is None:
        return []
    lower, middle, upper = rounded(
        [summary.lower_quartile, summary.median, summary.upper_quartile], series.factor
    )
    thick = {"color": series.color, "width": 5}
    mark = {"color": series.color, "symbol": "line-ns-open", "size": 15, "line": {"width": 2.5}}
    return [
        {**_LINES, "x": [lower, upper], "y": [row, row], "line": thick},
        {
            **_LINES,
            "mode": "markers",
            "x": [middle],
            "y": [row],
            "marker": mark,
            "hoverinfo": "text",
            "hovertext": f"{series.text}: median {middle:g}",
        },
    ]


def _points(row: int, series: Series, values: list[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": values,
        "y": [round(place, 3) for place in spread_rows(row, len(values))],
        "name": series.text,
        "hoverinfo": "x+name",
        "marker": {"size": 4, "opacity": 0.65, "color": series.color},
    }


def spread_rows(row: int, count: int) -> list[float]:
    """Places below a row for `count` values, so that few of them hide each other."""
    return [row + 0.12 + 0.16 * (index * _GOLDEN % 1) for index in range(count)]


def panels(answer: Answer) -> list[Panel]:
    """One figure with a violin a variant."""
    found = series_of(answer, at_least=2)
    if not found:
        return []
    rows = rows_axis([series.label for series in found])
    figure = layout(70 + _ROW_PIXELS * len(found), axis(metric_title(answer)), rows)
    data = [trace for pair in enumerate(found) for trace in _traces(*pair)]
    return [Panel("", data, figure, EXTENSION.title)]


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
        spread = spread_rows(row, len(values))
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
