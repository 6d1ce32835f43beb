"""The columns of a table with one row a measurement, as its readers hand them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from steelyard.analysis.variance.nested_values import Integers


class Header(NamedTuple):
    """The columns of a table.

    `levels` are the names of the repetition levels, highest first, `level_places` the places of
    their columns; `cost_places` those of the columns of costs, by level.
    """

    names: tuple[str, ...]
    levels: tuple[str, ...]
    level_places: tuple[int, ...]
    cost_places: dict[str, int]
    value_place: int


class Columns(NamedTuple):
    """What the rows say: a number for each label of a level, in order of their appearance, the
    values, and costs. Values and costs are NaN where a cell is empty."""

    labels: list[Integers]
    values: Sequence[float]
    costs_s: dict[str, Sequence[float]]
