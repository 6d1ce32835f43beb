"""What a drawing of a figure is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

INK = "#0072B2"
ACCENT = "#D55E00"
MUTED = "#8a8f98"


@dataclass(frozen=True)
class Drawing:
    """How one kind of figure is drawn.

    Parameters
    ----------
    name : str
        Also the beginning of the name of its files.
    title, caption : str
        What it shows, and how a reader who is no statistician reads it.
    draw : callable
        From the figure to marks on matplotlib's.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[Any, Canvas], None]
