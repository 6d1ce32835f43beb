"""CSV with one row a measurement and a column for each repetition level."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from steelyard.core.decoding import number_of, regular_opener
from steelyard.core.errors import AnalysisError, DataError
from steelyard.core.repeated_name import repeated_place
from steelyard.core.units import LARGEST_VALUE
from steelyard.store.level_columns import Columns, Header
from steelyard.store.whole_file import file_errors

if TYPE_CHECKING:
    from steelyard.analysis.variance.nested_values import NestedValues

VALUE = "value"
# The order of the levels that have one; user-named ones stand where their columns stand.
KNOWN_LEVELS = ("build", "execution", "iteration")
# Hosts, boots, days, builds, executions, iterations, and many more that nobody has named yet.
_MOST_LEVELS = 32
# Columns of the tables that hold whole experiments, which are another format.
_EXPERIMENT_COLUMNS = ("experiment", "variant", "position", "metric", "status", "warmup")
_SHOWN = 40


@dataclass(frozen=True)
class LevelTable:
    """A table of measurements.

    Parameters
    ----------
    data : NestedValues
    costs_s : mapping of level to float
        The mean cost of a unit of each level whose costs the table has.
    missing_count : int
        Rows without a value, which were left out.
    series : list of array
        Where the lowest level is ``iteration``, the values of each unit above it in the order of
        their rows.
    """

    data: NestedValues
    costs_s: Mapping[str, float]
    missing_count: int
    series: Sequence[Sequence[float]] = ()


def read_level_table(path: str, times: bool) -> LevelTable:
    """The measurements of a table.

    Parameters
    ----------
    path : str
        CSV in UTF-8: a column for each repetition level, named as the level, highest first,
        with a label that holds within the unit above; ``value``; and, where known,
        ``cost_LEVEL_s``, said in every row of a unit or in some of them.
    times : bool
        Whether the values are times, which cannot be negative.

    Raises
    ------
    DataError
        The file is not such a table; the message names file, line and column. Rows without a
        value are left out and counted.

    Notes
    -----
    Where there are no levels but ``build``, ``execution`` and ``iteration``, their columns may
    stand in any order.
    """
    from steelyard.store.level_table_arrow import read_columns

    with file_errors(path, "read"):
        header = _read_header(path)
        columns = read_columns(path, header, times)
        table = None if columns is None else _table(path, header, columns)
        # Whatever is unusual is read again row by row, which tells where it stands.
        return table or _checked_table(path, header, times)


def _read_header(path: str) -> Header:
    with open(path, encoding="utf-8-sig", newline="", opener=regular_opener) as file:
        try:
            names = next(csv.reader(file, strict=True), None)
        except UnicodeDecodeError:
            raise DataError(f"{path} is not UTF-8 text.", field="file") from None
        except csv.Error as error:
            raise DataError(f"{path}, line 1: not CSV: {error}.", field="file") from None
    if names is None:
        raise DataError(f"{path} is empty.", field="file")
    return header_of(path, [name.strip() for name in names])


def header_of(path: str, names: Sequence[str]) -> Header:
    """The columns by their names.

    Raises
    ------
    DataError
        A column is missing, without name, doubled, or the cost of a level that there is not.
    """
    if VALUE not in names:
        raise DataError(
            f"{path}, line 1: there is no column {VALUE!r}. The table has one row a measurement: "
            "a column for each repetition level, highest first (such as build, execution, "
            f"iteration), {VALUE}, and, where known, cost_build_s and cost_execution_s.",
            field=VALUE,
        )
    repeated = repeated_place(names)
    for place, name in enumerate(names):
        if not name or place == repeated:
            wrong = f"named {name!r} as one before it" if name else "without a name"
            raise DataError(f"{path}, line 1: column {place + 1} is {wrong}.", field=name or "file")
    foreign = [name for name in _EXPERIMENT_COLUMNS if name in names]
    if foreign:
        raise DataError(
            f"{path}, line 1: the column {foreign[0]!r} belongs to a table of a whole experiment. "
            f"Read it with `steelyard import {path}`, then `steelyard dimension latest`.",
            field=foreign[0],
        )
    costs = {n[5:-2]: p for p, n in enumerate(names) if n.startswith("cost_") and n.endswith("_s")}
    places = [p for p, n in enumerate(names) if p not in costs.values() and n != VALUE]
    if not places:
        raise DataError(
            f"{path}, line 1: there is no column of a repetition level, such as execution.",
            field="file",
        )
    if len(places) > _MOST_LEVELS:
        raise DataError(
            f"{path}, line 1: there are {len(places)} columns of repetition levels.\nAccepted are "
            f"at most {_MOST_LEVELS}: leave out columns that are none.",
            field="file",
        )
    levels = _in_order(path, [names[place] for place in places])
    for level, place in costs.items():
        if level not in levels:
            raise DataError(
                f"{path}, line 1: {names[place]!r} is the cost of a level without a column; the "
                f"levels are {', '.join(levels)}.",
                field=names[place],
            )
    by_name = [names.index(level) for level in levels]
    return Header(tuple(names), tuple(levels), tuple(by_name), costs, names.index(VALUE))


def _in_order(path: str, levels: list[str]) -> list[str]:
    """The levels, highest first: as their columns stand, but for the order that is known."""
    known = [level for level in levels if level in KNOWN_LEVELS]
    ordered = sorted(known, key=KNOWN_LEVELS.index)
    if known == ordered:
        return levels
    if len(known) == len(levels):
        return ordered
    raise DataError(
        f"{path}, line 1: the columns of repetition levels must stand highest first, with "
        f"{' before '.join(ordered)}; found {', '.join(levels)}.",
        field=known[0],
    )


def _table(path: str, header: Header, columns: Columns) -> LevelTable | None:
    """The table of readable columns; None where two rows have the same labels."""
    import numpy as np

    from steelyard.analysis.variance.nested_values import (
        mean_of_units,
        nested_values,
        series_of_units,
    )

    values = np.asarray(columns.values, dtype=np.float64)
    kept = ~np.isnan(values)
    if not kept.any():
        raise DataError(f"{path} holds no value.", field=VALUE)
    costs_s: dict[str, float] = {}
    for level, column in columns.costs_s.items():
        said = np.asarray(column, dtype=np.float64)
        there = kept & ~np.isnan(said)
        if there.any():
            depth = header.levels.index(level) + 1
            labels = [label[there] for label in columns.labels[:depth]]
            costs_s[level] = mean_of_units(labels, said[there])
    whole = bool(kept.all())
    labels = columns.labels if whole else [label[kept] for label in columns.labels]
    values = values if whole else values[kept]
    try:
        data = nested_values(header.levels, labels, values)
    except AnalysisError:
        return None
    iterations = header.levels[-1] == KNOWN_LEVELS[-1]
    series = series_of_units(labels[:-1], values) if iterations else ()
    return LevelTable(data, costs_s, int((~kept).sum()), cast("Sequence[Sequence[float]]", series))


class _RowReader:
    """Reads a table row by row and says, of a wrong cell, in which line and column."""

    def __init__(self, path: str, header: Header, times: bool) -> None:
        self.path = path
        self.header = header
        self.times = times
        self.line = 1
        self.seen: dict[tuple[str, ...], int] = {}

    def error(self, column: str, wanted: str, found: str) -> DataError:
        """The error for a cell of the present line."""
        shown = found if len(found) <= _SHOWN else found[: _SHOWN - 1] + "…"
        return DataError(
            f"{self.path}, line {self.line}, column {column!r}: wanted {wanted}, found {shown!r}.",
            field=column,
        )

    def rows(self) -> Iterator[list[str]]:
        """The rows below the header; empty lines are left out."""
        with open(self.path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            try:
                for row in reader:
                    first, self.line = self.line == 1, reader.line_num
                    if first or not row:
                        self.line += first
                        continue
                    yield self._whole(row)
            except UnicodeDecodeError:
                raise DataError(f"{self.path} is not UTF-8 text.", field="file") from None
            except csv.Error as error:
                raise DataError(
                    f"{self.path}, line {reader.line_num}: not CSV: {error}.", field="file"
                ) from None

    def _whole(self, row: list[str]) -> list[str]:
        wanted = len(self.header.names)
        if len(row) != wanted:
            raise DataError(
                f"{self.path}, line {self.line}: {len(row)} cells, but the header has {wanted} "
                "columns.",
                field="file",
            )
        return row

    def number(self, column: str, cell: str, least: float) -> float:
        """A finite number, NaN for an empty cell."""
        if not cell.strip():
            return math.nan
        try:
            value = number_of(cell)
        except ValueError:
            raise self.error(column, "a number", cell) from None
        if not math.isfinite(value):
            raise self.error(column, "a finite number", cell)
        if abs(value) > LARGEST_VALUE:
            raise self.error(column, f"at most {LARGEST_VALUE:.0e}, to be plausible", cell)
        if value < least:
            raise self.error(column, "a time, which cannot be negative", cell)
        return value

    def labels(self, row: Sequence[str], has_value: bool) -> list[str]:
        """The labels of a row, which no row with a value may have had before."""
        labels = [row[place] for place in self.header.level_places]
        for level, label in zip(self.header.levels, labels, strict=True):
            if not label.strip():
                raise self.error(level, "a label", label)
        if has_value:
            before = self.seen.setdefault(tuple(labels), self.line)
            if before != self.line:
                raise DataError(
                    f"{self.path}, line {self.line}: the same {', '.join(self.header.levels)} as "
                    f"in line {before}. If these are two measurements, add a column for the level "
                    "that tells them apart, such as iteration.",
                    field=self.header.levels[-1],
                )
        return labels


def _checked_table(path: str, header: Header, times: bool) -> LevelTable:
    import numpy as np

    reader = _RowReader(path, header, times)
    least = 0.0 if times else -math.inf
    codes: list[dict[str, int]] = [{} for _ in header.levels]
    labels: list[list[int]] = [[] for _ in header.levels]
    values: list[float] = []
    costs_s: dict[str, list[float]] = {level: [] for level in header.cost_places}
    for row in reader.rows():
        value = reader.number(VALUE, row[header.value_place], least)
        for place, label in enumerate(reader.labels(row, not math.isnan(value))):
            labels[place].append(codes[place].setdefault(label, len(codes[place])))
        values.append(value)
        for level, place in header.cost_places.items():
            costs_s[level].append(reader.number(header.names[place], row[place], 0.0))
    if not values:
        raise DataError(f"{path} has a header and no row.", field="file")
    columns = Columns([np.array(c, dtype=np.int64) for c in labels], values, dict(costs_s))
    table = _table(path, header, columns)
    assert table is not None, "repeated labels were refused above"
    return table
