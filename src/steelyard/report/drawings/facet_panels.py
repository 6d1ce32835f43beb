"""Panels of boxes, or of means with intervals, over the levels of factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.facets.facet_figure import FacetCell, FacetFigure, FacetLine, FacetPanel
from steelyard.report.drawings.drawing import INK, MUTED, Drawing
from steelyard.report.plots.plot_style import PALETTE, as_matplotlib_text
from steelyard.report.texts.readable import elided

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_MOST_TICKS, _LONGEST_TICK, _LONGEST_HEADER = 10, 12, 24
# Columns alone are wrapped into rows of so many panels.
_WRAPPED = 4
_INCHES_PER_LEVEL, _LEAST_WIDTH, _MOST_WIDTH = 0.45, 1.7, 6.0
# Around the panels and between them, in inches.
_LEFT, _RIGHT, _TOP, _BOTTOM, _BOTTOM_SLANTED = 0.85, 0.4, 0.4, 0.6, 1.1
_GAP, _HEADED_GAP, _NAMES = 0.15, 0.4, 1.7
_INCHES_PER_LETTER = 0.078
# Beyond so many lines their names are a list that hides the panels.
_MOST_NAMED = 12


def draw(shown: FacetFigure, canvas: Canvas) -> None:
    """A grid of panels on one scale, with the levels of columns above and of rows beside them."""
    is_wrapped = not shown.row_factor and shown.across > _WRAPPED
    across = _WRAPPED if is_wrapped else shown.across
    down = -(-len(shown.panels) // across)
    width = min(_MOST_WIDTH, max(_LEAST_WIDTH, _INCHES_PER_LEVEL * len(shown.levels)))
    height = 2.2 if down <= 3 else 1.5
    named = bool(shown.line_factor) and len(shown.panels[0].lines) <= _MOST_NAMED
    size = (width, height, _BOTTOM_SLANTED if _is_slanted(shown) else _BOTTOM)
    grid = _grid(canvas, (down, across), size, named=named, is_wrapped=is_wrapped)
    for place, axes in enumerate(grid.flat):
        if place >= len(shown.panels):
            axes.set_visible(False)
            continue
        panel = shown.panels[place]
        _draw_panel(axes, shown, panel)
        if place < across or is_wrapped:
            _header(axes, shown.column_factor, panel.column, width)
        if shown.row_factor and place % across == across - 1:
            _beside(axes, shown.row_factor, panel.row, height)
        if place + across >= len(shown.panels):
            axes.tick_params(labelbottom=True)
    canvas.supxlabel(as_matplotlib_text(shown.x_axis), fontsize=10)
    canvas.supylabel(as_matplotlib_text(shown.y_axis), fontsize=10, x=0.01)
    if named:
        handles, names = grid.flat[0].get_legend_handles_labels()
        title = as_matplotlib_text(elided(shown.line_factor, _LONGEST_HEADER))
        canvas.legend(
            handles, names, loc="upper right", frameon=False, fontsize=8, title=title,
            title_fontsize=8,
        )  # fmt: skip


def _grid(
    canvas: Canvas,
    counts: tuple[int, int],
    panel: tuple[float, float, float],
    **asked: bool,
) -> Any:
    """The axes, of a width and a height above a bottom. Their places are told in inches: finding
    them takes far longer than drawing."""
    down, across = counts
    left, right = _LEFT, _RIGHT + (_NAMES if asked["named"] else 0.0)
    gaps = _GAP, (_HEADED_GAP if asked["is_wrapped"] else _GAP)
    width = across * panel[0] + (across - 1) * gaps[0] + left + right
    height = down * panel[1] + (down - 1) * gaps[1] + _TOP + panel[2]
    canvas.set_layout_engine("none")
    canvas.set_size_inches(width, height)
    spaces = {
        "left": left / width,
        "right": 1 - right / width,
        "top": 1 - _TOP / height,
        "bottom": panel[2] / height,
        "wspace": gaps[0] / panel[0],
        "hspace": gaps[1] / panel[1],
    }
    return canvas.subplots(
        down, across, sharex=True, sharey=True, squeeze=False, gridspec_kw=spaces
    )


def _header(axes: Any, factor: str, level: str, width: float) -> None:
    if factor:
        text = elided(f"{factor} = {level}", int(width / _INCHES_PER_LETTER))
        axes.set_title(as_matplotlib_text(text), fontsize=8.5, fontweight="normal")


def _beside(axes: Any, factor: str, level: str, height: float) -> None:
    text = elided(f"{factor} = {level}", int(height / _INCHES_PER_LETTER))
    axes.annotate(
        as_matplotlib_text(text), (1.0, 0.5), xycoords="axes fraction", rotation=-90, ha="left",
        va="center", fontsize=8.5, xytext=(5, 0), textcoords="offset points",
    )  # fmt: skip


def _draw_panel(axes: Any, shown: FacetFigure, panel: FacetPanel) -> None:
    if shown.draws_means:
        middle = (len(panel.lines) - 1) / 2
        apart = min(0.08, 0.6 / max(1, len(panel.lines)))
        for index, line in enumerate(panel.lines):
            style = (PALETTE[index % len(PALETTE)], _MARKERS[index % len(_MARKERS)])
            _draw_means(axes, line, apart * (index - middle), style)
    else:
        _draw_boxes(axes, panel.lines[0].cells)
    if not any(cell for line in panel.lines for cell in line.cells):
        axes.text(
            0.5, 0.5, "no value", transform=axes.transAxes, ha="center", va="center", fontsize=8,
            color=MUTED,
        )  # fmt: skip
    stride, names = _ticks(shown)
    is_long = _is_slanted(shown)
    axes.set_xticks(
        list(range(len(names)))[::stride], names[::stride],
        rotation=35 if is_long else 0, ha="right" if is_long else "center", fontsize=8,
    )  # fmt: skip
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")


def _ticks(shown: FacetFigure) -> tuple[int, list[str]]:
    """The names of levels, and how many of them share one tick."""
    names = [as_matplotlib_text(elided(level, _LONGEST_TICK)) for level in shown.levels]
    return -(-len(names) // _MOST_TICKS), names


def _is_slanted(shown: FacetFigure) -> bool:
    stride, names = _ticks(shown)
    return len(names) > 2 and sum(map(len, names[::stride])) > 2 * _LONGEST_TICK


def _draw_boxes(axes: Any, cells: tuple[FacetCell | None, ...]) -> None:
    known = [(place, cell) for place, cell in enumerate(cells) if cell is not None]
    if not known:
        return
    boxes = [
        {
            "q1": cell.quartiles[0],
            "med": cell.quartiles[1],
            "q3": cell.quartiles[2],
            "whislo": cell.whiskers[0],
            "whishi": cell.whiskers[1],
            "fliers": cell.far,
        }
        for _, cell in known
    ]
    axes.bxp(
        boxes, positions=[place for place, _ in known], widths=0.6, patch_artist=True,
        boxprops={"facecolor": f"{INK}40", "edgecolor": INK, "linewidth": 1},
        medianprops={"color": INK, "linewidth": 1.6}, whiskerprops={"color": INK},
        capprops={"color": INK},
        flierprops={"marker": "o", "markersize": 2.5, "markeredgecolor": INK, "alpha": 0.6},
        manage_ticks=False,
    )  # fmt: skip
    bounded = [(place, cell) for place, cell in known if cell.low is not None]
    axes.vlines(
        [place for place, _ in bounded], [cell.low for _, cell in bounded],
        [cell.high for _, cell in bounded], color="black", linewidth=1.2, zorder=5,
    )  # fmt: skip
    axes.scatter(
        [place for place, _ in known], [cell.mean for _, cell in known], s=10, color="black",
        zorder=6,
    )  # fmt: skip


def _draw_means(axes: Any, line: FacetLine, shift: float, style: tuple[str, str]) -> None:
    color, marker = style
    known = [(k + shift, cell) for k, cell in enumerate(line.cells) if cell is not None]
    axes.plot(
        [x for x, _ in known], [cell.mean for _, cell in known], color=color, marker=marker,
        markersize=4, linewidth=1.1, label=as_matplotlib_text(elided(line.name, _LONGEST_HEADER)),
    )  # fmt: skip
    bounded = [(x, cell) for x, cell in known if cell.low is not None]
    if bounded:
        axes.vlines(
            [x for x, _ in bounded], [cell.low for _, cell in bounded],
            [cell.high for _, cell in bounded], color=color, linewidth=1.2, alpha=0.7,
        )  # fmt: skip


FACETS = Drawing(
    name="facets",
    title="Is it the same everywhere?",
    caption=(
        "A panel for each combination of levels, all on one scale. A box holds the middle half of "
        "the values, its line is their median; whiskers reach to the farthest values within 1.5 "
        "heights of the box. The dot is the mean, the line through it its interval, which is of "
        "these values alone. An empty place has no value."
    ),
    draw=draw,
)
