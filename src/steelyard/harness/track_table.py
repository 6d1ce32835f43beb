"""Tables of values along revisions: rows of CSV by the names of their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from steelyard.core.decoding import decoding, number_of
from steelyard.core.errors import DataError
from steelyard.core.repeated_name import repeated_name
from steelyard.harness.adapter import Source

_DELIMITERS = ",;\t"
# What stands for a value that was not measured (R, pandas, SQL).
MISSING = frozenset({"", "NA", "null", "NULL", "None"})


class TableRow(NamedTuple):
    """A row with the number of its line."""

    line: int
    cells: Sequence[str]


def column_names(first_line: str) -> list[str]:
    """The names of the columns in a first line, in small letters; none where it is no CSV."""
    reader = csv.reader([first_line.strip("\r\n\ufeff")], delimiter=delimiter_of(first_line))
    try:
        names = next(reader, list[str]())
    except (ValueError, csv.Error):
        return []
    return [name.strip().lower() for name in names]


def delimiter_of(first_line: str) -> str:
    """What stands most often in the first line."""
    return max(_DELIMITERS, key=first_line.count)


def checked_columns(source: Source) -> list[str]:
    """The names of a file's columns, each once.

    Raises
    ------
    DataError
        Two columns have one name.
    """
    names = column_names(source.text.split("\n", 1)[0])
    if not names:
        raise DataError(f"{source.name} is not CSV: its first line names no column.", field="file")
    twice = repeated_name(names)
    if twice is not None:
        raise DataError(f"{source.name} has the column {twice!r} twice.", field=twice or "file")
    return names


def table_rows(source: Source, width: int) -> Iterator[TableRow]:
    """The rows after the first one; empty lines are passed over.

    Raises
    ------
    DataError
        A row has another number of cells than `width`, or is no CSV.
    """
    delimiter = delimiter_of(source.text.split("\n", 1)[0])
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter, strict=True)
    with decoding(f"{source.name} is not CSV"):
        next(reader, None)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != width:
                raise DataError(
                    f"{source.name}, line {reader.line_num}: {len(cells)} cells, but the first "
                    f"line names {width} columns.",
                    field=f"line {reader.line_num}",
                )
            yield TableRow(reader.line_num, cells)


def cell_number(source: Source, row: TableRow, cell: str, column: str) -> float:
    """The finite number in a cell.

    Raises
    ------
    DataError
        It holds none; the message names the line and the column.
    """
    try:
        value = number_of(cell)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        shown = cell if len(cell) <= 40 else cell[:39] + "…"
        raise DataError(
            f"{source.name}, line {row.line}: {column} must be a finite number, not {shown!r}. "
            "Leave the cell empty where nothing was measured.",
            field=column,
        )
    return value
