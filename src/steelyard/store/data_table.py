"""Any CSV as a table of columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import isinf, isnan, nan
from typing import TYPE_CHECKING, TextIO

from steelyard.core.decoding import number_of, regular_opener
from steelyard.core.errors import DataError
from steelyard.core.repeated_name import repeated_place
from steelyard.store.gzip_content import gzip_content
from steelyard.store.whole_file import file_errors

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Column, Table

# As R reads them; `nan` and `inf` in any case are what float() takes for such.
_MISSING = frozenset({"", "NA"})


def read_data_table(path: str) -> Table:
    """The columns of a CSV file in UTF-8, plain or by gzip, whose first line names them.

    Raises
    ------
    DataError
        It is no such file: the message names the line. Empty lines are left out.

    Notes
    -----
    A cell is missing where it is blank, ``NA`` or ``nan``: NaN in a column of numbers, empty in one
    of texts, so that one cell without a value makes no column of numbers a column of texts. In a
    column of texts infinite numbers are missing too; in one of numbers they stay, for whoever
    reads it to judge.
    """
    from steelyard.analysis.tables.data_columns import Table

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
    with _opened(path) as file:
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


def _opened(path: str) -> TextIO:
    """The file as text, also where gzip compressed it."""
    if path.endswith(".gz"):
        return io.TextIOWrapper(io.BytesIO(gzip_content(path)), "utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="", opener=regular_opener)


def _checked_names(path: str, names: Sequence[str]) -> list[str]:
    stripped = [name.strip() for name in names]
    repeated = repeated_place(stripped)
    for place, name in enumerate(stripped):
        if not name or place == repeated:
            wrong = f"named {name!r} as one before it" if name else "without a name"
            raise DataError(f"{path}, line 1: column {place + 1} is {wrong}.", field=name or "file")
    return stripped


def _column(cells: Sequence[str]) -> Column:
    import numpy as np

    stripped = [cell.strip() for cell in cells]
    try:
        return np.array([nan if cell in _MISSING else _number(cell) for cell in stripped])
    except ValueError:
        return tuple("" if _is_missing(cell) else cell for cell in stripped)


def _number(cell: str) -> float:
    """The number that a cell holds; too large a one is a text, as ``81441e24`` of a revision is."""
    found = number_of(cell)
    if isinf(found) and not _is_infinity(cell):
        raise ValueError(cell)
    return found


def _is_infinity(cell: str) -> bool:
    return cell.lower().lstrip("+-") in ("inf", "infinity")


def _is_missing(cell: str) -> bool:
    """Whether the cell of a column of texts is a value that is missing, and no level."""
    if cell in _MISSING or _is_infinity(cell):
        return True
    try:
        return isnan(number_of(cell))
    except ValueError:
        return False
