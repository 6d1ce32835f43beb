"""Panels of boxes or means over the levels of factors, as numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FacetCell:
    """The rows at one level of every factor.

    Parameters
    ----------
    count : int
    mean : float
    low, high : float or None
        Of the mean's interval; None where one row bounds nothing.
    quartiles : tuple of float
        The lower, the median, the upper.
    whiskers : tuple of float
        The farthest values within 1.5 heights of the box.
    far : tuple of float
        Some of those beyond.
    """

    count: int
    mean: float
    low: float | None
    high: float | None
    quartiles: tuple[float, float, float]
    whiskers: tuple[float, float]
    far: tuple[float, ...]


@dataclass(frozen=True)
class FacetLine:
    """The cells at the levels of the axis, None where there is no row."""

    name: str
    cells: tuple[FacetCell | None, ...]


@dataclass(frozen=True)
class FacetPanel:
    """One panel: its levels of the factors of columns and rows, and its lines."""

    column: str
    row: str
    lines: tuple[FacetLine, ...]


@dataclass(frozen=True)
class FacetFigure:
    """Panels, row by row; a factor that is not used has an empty name and one level.

    Parameters
    ----------
    y_axis, x_axis : str
    levels : tuple of str
        Of the axis.
    column_factor, row_factor, line_factor : str
    across : int
        Panels in a row.
    draws_means : bool
        Means with intervals, in place of boxes.
    panels : tuple of FacetPanel
    """

    y_axis: str
    x_axis: str
    levels: tuple[str, ...]
    column_factor: str
    row_factor: str
    line_factor: str
    across: int
    draws_means: bool
    panels: tuple[FacetPanel, ...]
