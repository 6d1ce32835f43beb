"""A table of data as columns, the way in for every analysis by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]
Column: TypeAlias = Floats | tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of data by column.

    Parameters
    ----------
    source : str
        The file or experiment that it is from, for messages.
    columns : mapping of str to array or tuple of str
        In their order. A column whose cells all are numbers is an array, with NaN where a cell
        is missing, and may hold infinities; any other is a tuple of texts, empty where a cell is
        missing.
    lines : sequence of int
        For each row its line in the file, for messages.
    level_orders : mapping of str to sequence of str
        For columns that are factors of an experiment, the levels in its order: the first is the
        baseline.
    """

    source: str
    columns: Mapping[str, Column]
    lines: Sequence[int]
    level_orders: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])

    @property
    def row_count(self) -> int:
        """How many rows it has."""
        return len(self.lines)

    def column(self, name: str, option: str) -> Column:
        """A column that `option` named.

        Raises
        ------
        AnalysisError
            There is none; the message lists those that there are.
        """
        try:
            return self.columns[name]
        except KeyError:
            known = ", ".join(map(repr, self.columns))
            raise AnalysisError(
                f"{self.source} has no column {name!r} for {option}. It has: {known}.", field=option
            ) from None

    def numbers(self, name: str, option: str) -> Floats:
        """A column of numbers that `option` named.

        Raises
        ------
        AnalysisError
            There is none, or it holds text; the message names the first line that does.
        """
        found = self.column(name, option)
        if not isinstance(found, tuple):
            return found
        place = next(i for i, cell in enumerate(found) if not is_number(cell))
        raise AnalysisError(
            f"{self.source}, line {self.lines[place]}, column {name!r}: {option} wants numbers, "
            f"found {found[place]!r}.",
            field=option,
        )

    def texts(self, name: str, option: str) -> tuple[str, ...]:
        """A column that `option` named, as the labels of levels, numbers in their short form."""
        found = self.column(name, option)
        return found if isinstance(found, tuple) else tuple(f"{value:.15g}" for value in found)


def is_number(cell: str) -> bool:
    """Whether the text of a cell is a number or empty."""
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True
