"""Means of the levels of a factor, a line for each arm of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.figure_values import LevelsFigure
from steelyard.report.drawings.drawing import ACCENT, INK, Drawing
from steelyard.report.plots.plot_style import PALETTE, as_matplotlib_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MOST_TICKS = 16
_COLORS = (ACCENT, INK, *PALETTE[2:])


def draw(shown: LevelsFigure, canvas: Canvas) -> None:
    """A point with its interval for each level; lines only lead the eye."""
    canvas.set_size_inches(6.8, 3.8)
    axes = canvas.subplots()
    try:
        places = [float(level) for level in shown.levels]
    except ValueError:
        places = [float(index) for index in range(len(shown.levels))]
        stride = -(-len(places) // _MOST_TICKS)
        names = [as_matplotlib_text(level) for level in shown.levels]
        axes.set_xticks(places[::stride], names[::stride])
    for (name, means, widths), color in zip(shown.arms, _COLORS, strict=False):
        axes.errorbar(
            places, means, yerr=widths, color=color, marker="o", markersize=4, linewidth=1,
            capsize=2, label=as_matplotlib_text(name),
        )  # fmt: skip
    axes.set_xlabel(as_matplotlib_text(shown.x_axis))
    axes.set_ylabel(as_matplotlib_text(shown.y_axis))
    axes.set_title(as_matplotlib_text(shown.title))
    axes.legend(frameon=False)


LEVEL_MEANS = Drawing(
    name="levels",
    title="Does the effect go?",
    caption=(
        "Each point is the mean at one level with its interval. Where the line without the "
        "intervention goes up and down and the one with it is flat, what was held carries the "
        "effect."
    ),
    draw=draw,
)
