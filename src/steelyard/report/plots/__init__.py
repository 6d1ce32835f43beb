"""Plots of an answer: for the page as figures of plotly, for files as drawings of matplotlib.

One plot is one file with an `EXTENSION` in it. A figure for the page is plain data, so that
nothing of plotly but its script is ever loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.registry import Registry
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Panel(NamedTuple):
    """One figure of a plot: its title, plotly's data and layout, and what it shows in words."""

    title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    description: str


@dataclass(frozen=True)
class Plot:
    """A kind of plot.

    Parameters
    ----------
    name : str
        Also the name of its files.
    title, caption : str
        What it shows, and how a reader who is no statistician reads it.
    order : int
        Its place on the page.
    panels : callable
        The figures for an answer; none where there is nothing to draw.
    draw : callable
        The same with matplotlib; called only where there is a panel.
    table : callable
        The same as a table, for who cannot see it; None where there is nothing.
    """

    name: str
    title: str
    caption: str
    order: int
    panels: Callable[[Answer], list[Panel]]
    draw: Callable[[Answer, Figure], None]
    table: Callable[[Answer], Table | None]


PLOTS: Registry[Plot] = Registry("plot", "steelyard.report.plots", "steelyard.plots")


def plots_in_order() -> list[Plot]:
    """All plots, as a reader meets them."""
    return sorted(PLOTS, key=lambda plot: (plot.order, plot.name))
