"""Any CSV as a table of columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from math import nan
from typing import TYPE_CHECKING

from steelyard.core.errors import DataError
from steelyard.store.whole_file import file_errors

if TYPE_CHECKING:
    from steelyard.analysis.table import Column, Table


def read_data_table(path: str) -> Table:
    """The columns of a CSV file in UTF-8 whose first line names them.

    Raises
    ------
    DataError
        It is no such file: the message names the line. Empty lines are left out.
    """
    from steelyard.analysis.table import Table

    with file_errors(path, "read"):
        rows = list(_rows(path))
    _, names = rows[0]
    if names[0].lstrip().startswith(("{", "[")):
        raise DataError(
            f"{path} is JSON, and no CSV. `steelyard import` reads what harnesses write; the "
            "experiment can then be analysed.",
            field="file",
        )
    names = _checked_names(path, names)
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {line}: {len(row)} cells, but the header has {len(names)} columns.",
                field="file",
            )
    if len(rows) == 1:
        raise DataError(f"{path} has a header and no row.", field="file")
    cells = zip(*(row for _, row in rows[1:]), strict=True)
    columns = {name: _column(column) for name, column in zip(names, cells, strict=True)}
    return Table(path, columns, [line for line, _ in rows[1:]])


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with its line; the first is the header."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        empty = True
        try:
            for row in reader:
                if row:
                    empty = False
                    yield reader.line_num, row
        except UnicodeDecodeError:
            raise DataError(f"{path} is not UTF-8 text.", field="file") from None
        except csv.Error as error:
            raise DataError(
                f"{path}, line {reader.line_num}: not CSV: {error}.", field="file"
            ) from None
    if empty:
        raise DataError(f"{path} is empty.", field="file")


def _checked_names(path: str, names: Sequence[str]) -> list[str]:
    stripped = [name.strip() for name in names]
    for place, name in enumerate(stripped):
        if not name or name in stripped[:place]:
            wrong = f"named {name!r} as one before it" if name else "without a name"
            raise DataError(f"{path}, line 1: column {place + 1} is {wrong}.", field=name or "file")
    return stripped


def _column(cells: Sequence[str]) -> Column:
    import numpy as np

    try:
        return np.array([float(cell) if cell else nan for cell in cells], dtype=np.float64)
    except ValueError:
        return tuple(cell.strip() for cell in cells)
