"""How often a value was found, as Figures 4.5 and 4.6 of Mytkowicz (2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.figure_values import HistogramFigure
from steelyard.report.drawings.drawing import ACCENT, INK, MUTED, Drawing
from steelyard.report.plots.plot_style import as_matplotlib_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def draw(shown: HistogramFigure, canvas: Canvas) -> None:
    """Bars, a line where nothing changes, and the band of the interval."""
    canvas.set_size_inches(5.6, 3.4)
    axes = canvas.subplots()
    widths = [b - a for a, b in zip(shown.edges[:-1], shown.edges[1:], strict=True)]
    axes.bar(shown.edges[:-1], shown.counts, widths, align="edge", color=INK, alpha=0.75)
    if shown.band is not None:
        axes.axvspan(*shown.band, color=ACCENT, alpha=0.25, linewidth=0)
    if shown.line is not None:
        axes.axvline(shown.line, color=MUTED, linewidth=1.2, linestyle="--")
    axes.set_title(as_matplotlib_text(shown.title))
    axes.set_xlabel(as_matplotlib_text(shown.axis))
    axes.set_ylabel("setups")


HISTOGRAM = Drawing(
    name="histogram",
    title="How far do the setups agree?",
    caption=(
        "Each bar counts setups. A narrow heap means that the answer hardly depends on the setup; "
        "the coloured band is the interval of the mean over setups."
    ),
    draw=draw,
)
