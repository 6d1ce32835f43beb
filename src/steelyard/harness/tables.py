"""Rows of the CSV that harnesses write."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from steelyard.core.errors import DataError
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
    for number, row in enumerate(csv.DictReader(io.StringIO(text, newline="")), start=2):
        if None in row or None in row.values():
            raise DataError(
                f"{source.name}: line {number} has not as many cells as the first one has columns.",
                field="file",
            )
        yield number, row


def columns_of(source: Source) -> list[str]:
    """The columns that the first line names."""
    first = source.text.lstrip(WHITE).split("\n", 1)[0]
    return next(csv.reader([first]))
