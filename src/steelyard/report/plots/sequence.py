"""The values in the order of their making, block by block."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.analysis.comparison.plot_series import stride_for
from steelyard.report.kinds.comparison.tables import metric_scale
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.plot_style import (
    TABLE_LIMIT,
    Series,
    as_matplotlib_text,
    axis,
    capped,
    layout,
    metric_title,
    series_of,
)
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# As many characters of a legend as the figure is wide.
_LEGEND_CHARACTERS = 96
_BLOCKS_WITH_BANDS = 80
_LEGEND_PIXELS = 22


def _trace(series: Series) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [block + 1 for block in capped(series.blocks)],
        "y": capped(series.values),
        "name": series.text,
        "line": {"color": series.color, "width": 1},
        "marker": {"color": series.color, "size": 5},
    }


def _bands(blocks: int) -> list[dict[str, Any]]:
    """Every second block shaded, where they are few enough to be seen."""
    if blocks > _BLOCKS_WITH_BANDS:
        return []
    common = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    look = {"line": {"width": 0}, "fillcolor": "rgba(138,143,152,0.10)"}
    return [
        {**common, **look, "x0": block + 0.5, "x1": block + 1.5} for block in range(0, blocks, 2)
    ]


def _block_count(found: list[Series]) -> int:
    return max(max(series.blocks) for series in found) + 1


def panels(answer: Answer) -> list[Panel]:
    """One figure with a line a variant."""
    found = series_of(answer, at_least=2)
    if not found:
        return []
    blocks = _block_count(found)
    figure = layout(
        300 + _LEGEND_PIXELS * (len(found) // 3 + 1),
        axis("block", range=[0.5, blocks + 0.5], showgrid=False),
        axis(metric_title(answer)),
        showlegend=len(found) > 1,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        shapes=_bands(blocks),
    )
    return [Panel("", [_trace(s) for s in found], figure, EXTENSION.title)]


def draw(answer: Answer, figure: Figure) -> None:
    """Draw the sequence of every variant."""
    found = series_of(answer, at_least=2)
    labels = [as_matplotlib_text(series.label) for series in found]
    columns = max(1, min(6, len(found), _LEGEND_CHARACTERS // (max(map(len, labels)) + 6)))
    figure.set_size_inches(7.2, 3.2 + 0.2 * ceil(len(found) / columns))
    axes = figure.subplots()
    blocks = _block_count(found)
    if blocks <= _BLOCKS_WITH_BANDS:
        for block in range(0, blocks, 2):
            axes.axvspan(block + 0.5, block + 1.5, color="#8a8f98", alpha=0.1, linewidth=0)
    for series, label in zip(found, labels, strict=True):
        axes.plot(
            [block + 1 for block in capped(series.blocks)],
            capped(series.values),
            marker="o",
            markersize=3,
            linewidth=0.9,
            color=series.color,
            label=label,
        )
    axes.set_xlim(0.5, blocks + 0.5)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("block")
    axes.set_ylabel(metric_title(answer))
    if len(found) > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False)


def table(answer: Answer) -> Table | None:
    """The values, a row a block."""
    found = series_of(answer)
    if not found:
        return None
    scale = metric_scale(answer, answer.metric)
    by_block = [dict(zip(series.blocks, series.result.values, strict=True)) for series in found]
    blocks = sorted({block for values in by_block for block in values})
    blocks = blocks[:: stride_for(len(blocks), TABLE_LIMIT)]
    rows = tuple(
        (
            str(block + 1),
            *(scale.number(values[block]) if block in values else "–" for values in by_block),
        )
        for block in blocks
    )
    headers = (f"block [{scale.unit}]" if scale.unit else "block", *(s.label for s in found))
    return Table(headers, rows)


EXTENSION = Plot(
    name="sequence",
    title="Did anything change along the way?",
    caption=(
        "The values in the order of their making. In a quiet experiment they scatter without a "
        "pattern. Where all variants rise or fall together the machine changed; the comparison "
        "is made within blocks, so that such changes cancel."
    ),
    order=3,
    panels=panels,
    draw=draw,
    table=table,
)
