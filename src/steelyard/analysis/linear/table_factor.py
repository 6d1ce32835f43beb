"""Factors of a table: their levels in order, and which level each row has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Above so many levels a column is rather a number, and its interactions a matrix without end.
MOST_LEVELS = 1000
# More levels than this take two rows each: one row says nothing of how its level varies.
MOST_SINGLE_LEVELS = 10
# The code of a row whose cell holds no level.
MISSING = -1
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Factor:
    """A categorical column.

    Parameters
    ----------
    name : str
    levels : tuple of str
        The first is the low one: -1 where levels are coded, the baseline otherwise.
    codes : array of int
        For each row the index of its level; `MISSING` where its cell has no value.
    """

    name: str
    levels: tuple[str, ...]
    codes: Integers

    def rows(self, keep: NDArray[np.bool_]) -> Factor:
        """The factor for some of the rows; levels that are left without a row go."""
        codes = self.codes[keep]
        present, again = np.unique(codes, return_inverse=True)
        if present.size and present[0] == MISSING:
            raise ValueError(f"a row without a level of {self.name!r} was kept")
        levels = tuple(self.levels[int(index)] for index in present)
        return Factor(self.name, levels, again.reshape(-1).astype(np.int64))


def factor_of(
    table: Table, name: str, order: Sequence[str] = (), most_levels: int | None = MOST_LEVELS
) -> Factor:
    """The factor in a column.

    Parameters
    ----------
    table : Table
    name : str
        Of the column.
    order : sequence of str, optional
        Levels that come first, in this order; the others follow in the table's own order, where
        it has one, then in natural order: numbers by their value, texts by their letters without
        regard to case.
    most_levels : int, optional
        None for what only groups rows, of which there may be any number.

    Raises
    ------
    AnalysisError
        No such column; a level in `order` that the column has not; too many levels, or nearly as
        many as rows.
    """
    column = table.column(name, "--factors")
    own_levels = table.level_orders.get(name, ())
    if isinstance(column, tuple):
        # An experiment may have an empty level, such as no flag; a file cannot say that it does.
        texts = np.asarray(column, dtype=object)
        there = np.array([text != "" or text in own_levels for text in column])
        unique, codes = np.unique(texts[there], return_inverse=True)
        found = [str(text) for text in unique.tolist()]
    else:
        there = np.isfinite(column)
        values, codes = np.unique(column[there], return_inverse=True)
        found = [f"{value:.15g}" for value in values.tolist()]
    rows = int(there.sum())
    most_replicated = max(MOST_SINGLE_LEVELS, rows / 2)
    if (
        most_levels is not None
        and not own_levels
        and len(found) > min(most_levels, most_replicated)
    ):
        numbers = not isinstance(column, tuple)
        raise AnalysisError(
            f"The factor {name!r} of {table.source} has {len(found)} levels in {rows} rows. "
            + (
                f"Numbers that vary freely are a covariate: --option covariates={name}."
                if numbers
                else "A level needs several rows: name columns that say what rows have in common."
            ),
            field="--factors",
        )
    for level in order:
        if level not in found:
            raise AnalysisError(
                f"The factor {name!r} has no level {level!r}. It has: "
                f"{', '.join(map(repr, found[:20]))}.",
                field="--option low",
            )
    own = [level for level in own_levels if level in found]
    first = list(dict.fromkeys([*order, *own]))
    rest = [level for level in found if level not in set(first)]
    if isinstance(column, tuple):
        rest.sort(key=_natural)
    levels = [*first, *rest]
    places = {level: place for place, level in enumerate(levels)}
    place = np.array([places[level] for level in found], dtype=np.int64)
    row_codes = np.full(table.row_count, MISSING)
    row_codes[there] = place[codes.reshape(-1)]
    return Factor(name, tuple(levels), row_codes)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    parts = _NUMBER.split(text.casefold())
    return (*((1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts), (0, 0, text))


def first_levels(text: str, factors: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The levels named to come first, from ``compressor=bzip2;flag=-O2``.

    Raises
    ------
    AnalysisError
        It does not read so, or names no factor of the question.
    """
    found: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, levels = part.partition("=")
        if not equals or name not in factors:
            raise AnalysisError(
                f"--option low takes FACTOR=LEVEL;FACTOR=LEVEL with factors of --factors; it got "
                f"{part!r}.",
                field="--option low",
            )
        found[name] = tuple(level.strip() for level in levels.split(","))
    return found
