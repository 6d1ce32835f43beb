"""Rows of the CSV that harnesses write."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import cast

from steelyard.core.decoding import decoding
from steelyard.core.errors import DataError
from steelyard.core.repeated_name import repeated_name
from steelyard.harness.adapter import Source

WHITE = " \r\n\t"


def table_rows(source: Source) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row with the number of its line.

    Raises
    ------
    DataError
        A row has not as many cells as the first line has columns, or the last one has no end:
        its number may then be cut off in the middle.
    """
    text = source.text.lstrip(WHITE)
    if not text.endswith("\n"):
        raise DataError(
            f"{source.name} has no end of line at its end: it is cut off.", field="file"
        )
    columns_of(source)
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    for number, row in _numbered(source, rows):
        if None in row or None in row.values():
            raise DataError(
                f"{source.name}: line {number} has not as many cells as the first one has columns.",
                field="file",
            )
        yield number, cast("dict[str, str]", row)


def _numbered(
    source: Source, rows: csv.DictReader[str]
) -> Iterator[tuple[int, dict[str | None, str | None]]]:
    number = 1
    while True:
        number += 1
        with decoding(f"{source.name}: line {number} is not CSV"):
            row = next(rows, None)
        if row is None:
            return
        yield number, cast("dict[str | None, str | None]", row)


def columns_of(source: Source) -> list[str]:
    """The columns that the first line names."""
    first = source.text.lstrip(WHITE).split("\n", 1)[0]
    with decoding(f"{source.name} is not CSV"):
        names: list[str] = next(csv.reader([first], strict=True), list[str]())
    twice = repeated_name(names)
    if twice is not None:
        raise DataError(f"{source.name} has the column {twice!r} twice.", field=twice)
    return names
