"""A response at every combination of up to four factors, as panels beside and below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.facets.facet_figure import FacetCell, FacetFigure, FacetLine, FacetPanel
from steelyard.analysis.intervals.mean import mean_interval
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.table_analysis import Analysis, Effect
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
# Values by the places of their levels: of the axis, the column, the row and the line.
Grouped = Mapping[tuple[int, ...], list[float]]

METHOD = "facets"
# More panels or lines than these nobody reads; a factor left out is averaged over.
MOST_PANELS, MOST_LINES, MOST_CELLS = 200, 40, 4000
# Of a box: whiskers reach to the farthest values within so many times its height; those beyond are
# drawn one by one. J. W. Tukey, Exploratory Data Analysis (1977).
_WHISKER = 1.5
_MOST_FAR = 50
_WHOLE = Factor("", ("",), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class Facets:
    """Which factor is where.

    Parameters
    ----------
    x : Factor
        Along the axis of every panel.
    columns, rows : Factor or None
        A panel for each level, beside and below each other.
    lines : Factor or None
        A line of means for each level, in place of boxes.
    """

    x: Factor
    columns: Factor | None = None
    rows: Factor | None = None
    lines: Factor | None = None

    @property
    def all(self) -> tuple[Factor, ...]:
        """Those that there are."""
        found = (self.x, self.columns, self.rows, self.lines)
        return tuple(each for each in found if each is not None)


def facets(
    asked: Facets, response: str, unit: str, values: Floats, confidence: float, *, means: bool
) -> Analysis:
    """The response in each cell: its mean with Student's interval, and what a box shows.

    Parameters
    ----------
    asked : Facets
    values : array
        Of the response, a row each.
    means : bool
        Draw means with their intervals, and no boxes.

    Raises
    ------
    AnalysisError
        There are too many panels, lines or cells to be seen.

    Notes
    -----
    After figures 4.4 to 4.6 of Oliveira (2015). Each interval is of its cell's rows alone, and
    holds by itself; rows are taken for independent.
    """
    _check(asked)
    grouped = _grouped(asked, values)
    rows, columns, lines = (each or _WHOLE for each in (asked.rows, asked.columns, asked.lines))
    places = [
        (row, column) for row in range(len(rows.levels)) for column in range(len(columns.levels))
    ]
    panels = tuple(
        FacetPanel(
            columns.levels[column],
            rows.levels[row],
            tuple(
                FacetLine(name, _cells(asked, grouped, (column, row, line), confidence))
                for line, name in enumerate(lines.levels)
            ),
        )
        for row, column in places
    )
    figure = FacetFigure(
        _axis(response, unit),
        asked.x.name,
        asked.x.levels,
        columns.name,
        rows.name,
        lines.name,
        len(columns.levels),
        means or asked.lines is not None,
        panels,
    )
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=_effects(asked, grouped, unit, confidence),
        cautions=_cautions(asked, grouped),
        figures=(figure,),
    )


def _check(asked: Facets) -> None:
    columns = len(asked.columns.levels) if asked.columns else 1
    rows = len(asked.rows.levels) if asked.rows else 1
    lines = len(asked.lines.levels) if asked.lines else 1
    panels, cells = columns * rows, columns * rows * lines * len(asked.x.levels)
    for count, most, what in (
        (panels, MOST_PANELS, "panels"),
        (lines, MOST_LINES, "lines in each panel"),
        (cells, MOST_CELLS, "cells"),
    ):
        if count > most:
            raise AnalysisError(
                f"These factors give {count} {what}; facets have at most {most}. Leave a factor "
                "out: its levels are taken together then.",
                field="--factors",
            )


def _grouped(asked: Facets, values: Floats) -> Grouped:
    """The values of each cell that has some, by the places of its levels: of the axis, the column,
    the row and the line."""
    none = np.zeros(len(values), dtype=np.int64)
    places = (asked.x, asked.columns, asked.rows, asked.lines)
    codes = [none if each is None else each.codes for each in places]
    sizes = [1 if each is None else len(each.levels) for each in places]
    keys = np.ravel_multi_index(codes, sizes)
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    parts = np.split(values[order], starts[1:])
    where = np.transpose(np.unravel_index(found, sizes)).tolist()
    return {tuple(place): part.tolist() for place, part in zip(where, parts, strict=True)}


def _cells(
    asked: Facets, grouped: Grouped, place: tuple[int, int, int], confidence: float
) -> tuple[FacetCell | None, ...]:
    """The cells of a line along the axis."""
    found = (grouped.get((x, *place)) for x in range(len(asked.x.levels)))
    return tuple(None if own is None else _cell(own, confidence) for own in found)


def _effects(asked: Facets, grouped: Grouped, unit: str, confidence: float) -> tuple[Effect, ...]:
    """The mean of each cell, in the order of panels, lines and levels."""
    order = sorted(grouped, key=lambda place: (place[2], place[1], place[3], place[0]))
    return tuple(
        Effect(_term(asked, place), mean_interval(grouped[place], confidence), "mean", unit)
        for place in order
    )


def _cell(values: Sequence[float], confidence: float) -> FacetCell:
    lower, middle, upper = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = _WHISKER * (upper - lower)
    inside = [value for value in values if lower - reach <= value <= upper + reach]
    far = [value for value in values if not lower - reach <= value <= upper + reach]
    mean = mean_interval(values, confidence)
    low, high = _ends(mean)
    return FacetCell(
        count=len(values),
        mean=mean.estimate if mean.estimate is not None else middle,
        low=low,
        high=high,
        quartiles=(lower, middle, upper),
        whiskers=(min(inside), max(inside)),
        far=tuple(sorted(far)[:: max(1, len(far) // _MOST_FAR)]),
    )


def _ends(mean: Interval) -> tuple[float | None, float | None]:
    return getattr(mean, "low", None), getattr(mean, "high", None)


def _term(asked: Facets, place: Sequence[int]) -> str:
    factors = (asked.x, asked.columns, asked.rows, asked.lines)
    pairs = zip(factors, place, strict=True)
    return ", ".join(f"{each.name}={each.levels[index]}" for each, index in pairs if each)


def _axis(response: str, unit: str) -> str:
    return f"{response} [{unit}]" if unit else response


def _cautions(asked: Facets, grouped: Grouped) -> tuple[Caution, ...]:
    found: list[Caution] = []
    cells = int(np.prod([len(each.levels) for each in asked.all]))
    if len(grouped) < cells:
        text = f"{cells - len(grouped)} of {cells} cells have no row: they are empty."
        found.append(Caution("missing-cells", text))
    single = sum(len(values) == 1 for values in grouped.values())
    if single:
        text = (
            f"{single} of {cells} cells have one row, which bounds nothing: no interval is shown."
        )
        found.append(Caution("one-row-cells", text))
    return tuple(found)
