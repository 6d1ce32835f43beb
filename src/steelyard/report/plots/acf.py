"""The autocorrelation of every variant's sequence, with the bounds of an independent one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.comparison.comparison_results import Answer, Independence
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.plot_style import (
    Series,
    as_matplotlib_text,
    axis,
    grid,
    layout,
    rounded,
    series_of,
)
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _found(answer: Answer) -> list[tuple[Series, Independence]]:
    return [
        (series, series.result.independence)
        for series in series_of(answer)
        if series.result.independence is not None and series.result.independence.autocorrelation
    ]


def _panel(series: Series, independence: Independence) -> Panel:
    lags = list(range(1, len(independence.autocorrelation) + 1))
    bars = {
        "type": "bar",
        "x": lags,
        "y": rounded(independence.autocorrelation),
        "width": 0.35,
        "marker": {"color": series.color},
        "hovertemplate": "lag %{x}: %{y:.3f}<extra></extra>",
    }
    bounds = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": level,
            "y1": level,
            "line": {"width": 1, "dash": "dot" if level else "solid", "color": "#8a8f98"},
        }
        for level in (-independence.bound, 0, independence.bound)
    ]
    reach = max(0.5, *(1.15 * abs(value) for value in independence.autocorrelation))
    reach = min(1.05, max(reach, 1.2 * independence.bound))
    figure = layout(230, axis("lag"), axis("autocorrelation", range=[-reach, reach]), shapes=bounds)
    outside = sum(abs(value) > independence.bound for value in independence.autocorrelation)
    return Panel(
        series.label,
        [bars],
        figure,
        f"Autocorrelation of {series.label}: {outside} of {len(lags)} lags beyond the bounds",
    )


def panels(answer: Answer) -> list[Panel]:
    """One figure a variant."""
    return [_panel(*pair) for pair in _found(answer)]


def draw(answer: Answer, figure: Figure) -> None:
    """Draw a grid with one variant each."""
    found = _found(answer)
    for axes, (series, independence) in zip(grid(figure, len(found)), found, strict=True):
        lags = range(1, len(independence.autocorrelation) + 1)
        axes.vlines(lags, 0, independence.autocorrelation, color=series.color, linewidth=2)
        axes.axhline(0, color="#8a8f98", linewidth=0.8)
        for level in (-independence.bound, independence.bound):
            axes.axhline(level, color="#8a8f98", linewidth=0.8, linestyle=":")
        reach = max(0.5, *(abs(value) for value in independence.autocorrelation))
        axes.set_ylim(-1.1 * reach, 1.1 * reach)
        axes.set_title(as_matplotlib_text(series.label))
        axes.set_xlabel("lag")
        axes.set_ylabel("autocorrelation")


def table(answer: Answer) -> Table | None:
    """A row a lag, a column a variant."""
    found = _found(answer)
    if not found:
        return None
    lags = max(len(independence.autocorrelation) for _, independence in found)
    rows = [("bound", *(f"± {independence.bound:.3f}" for _, independence in found))]
    for lag in range(lags):
        cells = (
            f"{i.autocorrelation[lag]:.3f}" if lag < len(i.autocorrelation) else "–"
            for _, i in found
        )
        rows.append((str(lag + 1), *cells))
    return Table(("lag", *(series.label for series, _ in found)), tuple(rows))


EXTENSION = Plot(
    name="acf",
    title="Does a value depend on those before it?",
    caption=(
        "Bars within the dotted bounds are what independent executions give (one bar in twenty "
        "may pass them by chance). High bars at small lags mean that neighbours are alike, and "
        "that the intervals are too narrow."
    ),
    order=4,
    panels=panels,
    draw=draw,
    table=table,
)
