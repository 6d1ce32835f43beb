"""Means by level: the main effects of a factorial experiment, and its interactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.tables.figure_values import (
    InteractionFigure,
    MainEffectsFigure,
    MeansLine,
    MeansPanel,
)
from steelyard.report.drawings.drawing import ACCENT, INK, Drawing
from steelyard.report.plots.plot_style import PALETTE, as_matplotlib_text
from steelyard.report.texts.readable import elided

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_COLORS = (INK, ACCENT, *PALETTE[2:])
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_MOST_TICKS, _LONGEST_TICK = 8, 14
_ACROSS = {MainEffectsFigure: 4, InteractionFigure: 3}
# Lines of one panel are moved apart by this share of the space between levels.
_APART = 0.06


def draw(shown: MainEffectsFigure | InteractionFigure, canvas: Canvas) -> None:
    """A panel for each factor or pair, on one scale, so that what is steep matters more."""
    across = min(_ACROSS[type(shown)], len(shown.panels))
    down = -(-len(shown.panels) // across)
    width = 2.3 if isinstance(shown, MainEffectsFigure) else 3.0
    canvas.set_size_inches(max(4.2, 0.9 + width * across), 0.5 + 2.7 * down)
    canvas.set_layout_engine("constrained")
    grid: Any = canvas.subplots(down, across, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(shown.panels):
            axes.set_visible(False)
            continue
        _draw_panel(axes, shown.panels[place])
        if place % across == 0:
            axes.set_ylabel(as_matplotlib_text(shown.y_axis))


def _draw_panel(axes: Any, panel: MeansPanel) -> None:
    middle = (len(panel.lines) - 1) / 2
    for index, line in enumerate(panel.lines):
        style = (_COLORS[index % len(_COLORS)], _MARKERS[index % len(_MARKERS)])
        _draw_line(axes, line, _APART * (index - middle), style)
    places = range(len(panel.levels))
    stride = -(-len(panel.levels) // _MOST_TICKS)
    names = [as_matplotlib_text(elided(level, _LONGEST_TICK)) for level in panel.levels]
    long = sum(map(len, names[::stride])) > 2 * _LONGEST_TICK
    axes.set_xticks(
        list(places)[::stride], names[::stride],
        rotation=30 if long else 0, ha="right" if long else "center",
    )  # fmt: skip
    axes.set_xlim(-0.4, len(panel.levels) - 0.6)
    axes.set_xlabel(as_matplotlib_text(panel.x_axis))
    axes.grid(visible=False, axis="x")
    if panel.line_factor:
        axes.legend(
            frameon=False, fontsize=8, title=as_matplotlib_text(panel.line_factor),
            title_fontsize=8,
        )  # fmt: skip


def _draw_line(axes: Any, line: MeansLine, shift: float, style: tuple[str, str]) -> None:
    color, marker = style
    known = [(k + shift, mean) for k, mean in enumerate(line.means) if mean is not None]
    axes.plot(
        [x for x, _ in known], [y for _, y in known], color=color, marker=marker, markersize=5,
        linewidth=1.2, label=as_matplotlib_text(line.name) or None,
    )  # fmt: skip
    bounds = zip(line.low, line.high, strict=True)
    bars = [(k + shift, low, high) for k, (low, high) in enumerate(bounds)
            if low is not None and high is not None]  # fmt: skip
    if bars:
        places, low, high = zip(*bars, strict=True)
        axes.vlines(places, low, high, color=color, linewidth=1.2, alpha=0.8)


MAIN_EFFECTS = Drawing(
    name="main-effects",
    title="What does each factor do?",
    caption=(
        "The mean at each level of a factor, over all combinations of the others, with its "
        "interval. The steeper a line, the more the factor matters; all panels have one scale."
    ),
    draw=draw,
)
INTERACTIONS = Drawing(
    name="interactions",
    title="Does the effect of one factor depend on another?",
    caption=(
        "The mean at each combination of two factors, with its interval. Where lines are parallel, "
        "the effect of one factor is the same at every level of the other; where they cross or "
        "spread, it is not. The strongest interaction comes first."
    ),
    draw=draw,
)
