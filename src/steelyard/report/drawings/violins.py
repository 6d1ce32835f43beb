"""Violins with marked values, as Figure 4.1 (b) of Mytkowicz (2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.tables.figure_values import ViolinFigure
from steelyard.report.drawings.drawing import ACCENT, INK, MUTED, Drawing
from steelyard.report.plots.plot_style import (
    DENSITY_POINTS,
    PALETTE,
    as_matplotlib_text,
    relative_bandwidth,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MARKERS = ("P", "X", "D", "^")


def draw(shown: ViolinFigure, canvas: Canvas) -> None:
    """A violin a distribution, standing; the box holds its middle half, the dot its median."""
    canvas.set_size_inches(max(4.2, 1.2 + 0.75 * len(shown.violins)), 3.8)
    axes = canvas.subplots()
    if shown.line is not None:
        axes.axhline(shown.line, color=MUTED, linewidth=1, linestyle="--")
    named: dict[str, tuple[str, str]] = {}
    for place, violin in enumerate(shown.violins):
        values = np.asarray(violin.values)
        if len(values) > 1 and np.ptp(values) > 0:
            parts: Any = axes.violinplot(
                [values], [place], widths=0.8, showextrema=False, points=DENSITY_POINTS,
                bw_method=relative_bandwidth(values.tolist()),
            )  # fmt: skip
            for body in parts["bodies"]:
                body.set(facecolor=INK, edgecolor=INK, alpha=0.3)
        lower, middle, upper = np.quantile(values, (0.25, 0.5, 0.75))
        axes.vlines(place, lower, upper, color=INK, linewidth=5, alpha=0.8)
        axes.scatter([place], [middle], s=22, color="white", edgecolors=INK, zorder=3)
        for name, value in violin.marks:
            marker, color = named.setdefault(
                name, (_MARKERS[len(named) % 4], (ACCENT, *PALETTE[2:])[len(named) % 4])
            )
            axes.scatter([place], [value], marker=marker, s=42, color=color, zorder=4)
    for name, (marker, color) in named.items():
        axes.scatter([], [], marker=marker, s=42, color=color, label=as_matplotlib_text(name))
    labels = [as_matplotlib_text(violin.label) for violin in shown.violins]
    axes.set_xticks(range(len(labels)), labels, rotation=30 if len(labels) > 4 else 0, ha="right"
                    if len(labels) > 4 else "center")  # fmt: skip
    axes.set_ylabel(as_matplotlib_text(shown.axis))
    axes.set_title(as_matplotlib_text(shown.title))
    axes.grid(visible=False, axis="x")
    if named:
        axes.legend(frameon=False)


VIOLINS = Drawing(
    name="violins",
    title="How do the values spread?",
    caption=(
        "A violin is wide where values are common; the dot is the median and the thick line holds "
        "the middle half. One that crosses the dashed line has values on both sides: the answer "
        "depends on which of them one happens to measure."
    ),
    draw=draw,
)
