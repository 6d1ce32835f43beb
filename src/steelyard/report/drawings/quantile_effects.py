"""Effects across the quantiles of the response, as Figure 3.6 of Oliveira (2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.tables.figure_values import QuantileFigure
from steelyard.report.drawings.drawing import INK, MUTED, Drawing
from steelyard.report.plots.plot_style import as_matplotlib_text, grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MOST_PANELS = 16


def draw(shown: QuantileFigure, canvas: Canvas) -> None:
    """A panel a term: a line through the effects, and the band of their intervals."""
    terms = shown.terms[:_MOST_PANELS]
    for index, (axes, term) in enumerate(zip(grid(canvas, len(terms)), terms, strict=True)):
        low = np.array(shown.low[index], dtype=np.float64)
        high = np.array(shown.high[index], dtype=np.float64)
        axes.fill_between(shown.quantiles, low, high, color=MUTED, alpha=0.35, linewidth=0)
        axes.axhline(0, color=MUTED, linewidth=1, linestyle=":")
        axes.plot(shown.quantiles, shown.estimates[index], color=INK, marker="o", markersize=3)
        axes.set_title(as_matplotlib_text(term))
        axes.set_xlabel("quantile")
        axes.set_xlim(0, 1)


QUANTILE_EFFECTS = Drawing(
    name="quantile-effects",
    title="How do effects change from the fastest to the slowest runs?",
    caption=(
        "Each panel is one effect, from low quantiles of the response on the left to high ones on "
        "the right; the band is its interval. A level line is an effect that shifts everything "
        "alike; a slope is one that some runs feel more than others."
    ),
    draw=draw,
)
