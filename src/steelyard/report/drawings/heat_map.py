"""A value over two parameters as colour, as Figure 1.1 of Mytkowicz (2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.tables.figure_values import MapFigure
from steelyard.report.drawings.drawing import Drawing
from steelyard.report.plots.plot_style import as_matplotlib_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MOST_TICKS = 12
_INCHES_PER_LETTER = 0.07


def draw(shown: MapFigure, canvas: Canvas) -> None:
    """A grid of cells, empty where nothing was measured."""
    # The cells keep their room beside long names.
    longest = max(map(len, shown.y), default=0)
    canvas.set_size_inches(5.2 + _INCHES_PER_LETTER * longest, 4.8)
    axes = canvas.subplots()
    cells = np.array(shown.values, dtype=np.float64)
    image = axes.imshow(cells, origin="lower", aspect="auto", cmap="viridis", interpolation="none")
    for names, place in ((shown.x, axes.set_xticks), (shown.y, axes.set_yticks)):
        stride = -(-len(names) // _MOST_TICKS)
        places = range(0, len(names), stride)
        place(list(places), [as_matplotlib_text(names[index]) for index in places])
    axes.grid(visible=False)
    axes.set_xlabel(as_matplotlib_text(shown.x_name))
    axes.set_ylabel(as_matplotlib_text(shown.y_name))
    canvas.colorbar(image, ax=axes, label=as_matplotlib_text(shown.value_name))


HEAT_MAP = Drawing(
    name="map",
    title="Where is it fast, where slow?",
    caption=(
        "Each cell is one combination of the two parameters, its colour the value there. Stripes "
        "say that one parameter decides; a diagonal, that their difference does."
    ),
    draw=draw,
)
