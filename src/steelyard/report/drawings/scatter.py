"""Points of pairs of values, a panel for each pair of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.figure_values import ScatterFigure
from steelyard.report.drawings.drawing import INK, Drawing
from steelyard.report.plots.plot_style import as_matplotlib_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_COLUMNS = 3


def draw(shown: ScatterFigure, canvas: Canvas) -> None:
    """A panel for each x, all with the same y unless the panel has its own."""
    count = len(shown.panels)
    columns = min(_COLUMNS, count)
    rows = -(-count // columns)
    canvas.set_size_inches(3.1 * columns, 2.7 * rows)
    grid = canvas.subplots(rows, columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= count:
            axes.set_visible(False)
            continue
        panel = shown.panels[place]
        axes.scatter(panel.x, panel.y, s=12, color=INK, alpha=0.7)
        axes.set_xlabel(as_matplotlib_text(panel.x_axis))
        axes.set_ylabel(as_matplotlib_text(panel.y_axis))
        axes.set_title(as_matplotlib_text(panel.title), fontsize="small")


SCATTER = Drawing(
    name="scatter",
    title="Does what happens inside go with the result?",
    caption=(
        "Each point is a run, in the last panel a pair of runs. A cloud that rises or falls says "
        "that the number of these events goes with the result; one without a direction, that it "
        "does not."
    ),
    draw=draw,
)
