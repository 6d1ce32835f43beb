"""The CSV that Apache Otava reads: a row for each run, with a column for each metric.

As in its docs/CSV.md: a column ``time``, columns of attributes such as ``commit`` and ``branch``,
and columns of numbers, which are metrics. Which are which its configuration says; here a column is
a metric where all of its cells are numbers or empty. The test is named by the file.
"""

from __future__ import annotations

import os
from typing import Any

from steelyard.core.decoding import number_of
from steelyard.core.errors import DataError
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source
from steelyard.harness.track_reader import TrackFile, TrackReader, left_out_sentence
from steelyard.harness.track_readers.csv import VALUES
from steelyard.harness.track_table import (
    MISSING,
    TableRow,
    cell_number,
    checked_columns,
    column_names,
    table_rows,
)
from steelyard.harness.track_units import unix_time_of

_REVISIONS = ("commit", "revision", "version", "sha", "hash", "git_sha")
_HOSTS = ("host", "machine", "hostname")
_BRANCHES = ("branch",)
_ATTRIBUTES = frozenset((*_REVISIONS, *_HOSTS, *_BRANCHES, "time", "build", "run", "id"))


def recognises(text: str) -> bool:
    """Whether its first line names a time, and a column that may be a metric by its name."""
    first = text.split("\n", 1)[0]
    if first.lstrip()[:1] in ("{", "[", "<", ""):
        return False
    names = set(column_names(first))
    return "time" in names and not names & set(VALUES) and bool(names - _ATTRIBUTES)


def read(source: Source) -> TrackFile:
    """A value for each metric of each row that has one."""
    names = checked_columns(source)
    if "time" not in names:
        raise DataError(
            f"{source.name} has no column 'time', but {', '.join(names)}.", field="time"
        )
    rows = list(table_rows(source, len(names)))
    metrics = [
        place
        for place, name in enumerate(names)
        if name not in _ATTRIBUTES and _is_metric(rows, place)
    ]
    if not metrics:
        raise DataError(
            f"{source.name} has no column of numbers that is a metric, but {', '.join(names)}.",
            field="file",
        )
    test = os.path.basename(source.name).partition(".")[0]
    found: list[TrackRow] = []
    empty = 0
    for row in rows:
        filled = [place for place in metrics if row.cells[place].strip() not in MISSING]
        empty += len(metrics) - len(filled)
        # Once a row: names may be as many as cells.
        about = _about(source, row, names) if filled else {}
        for place in filled:
            value = cell_number(source, row, row.cells[place].strip(), names[place])
            found.append(TrackRow(test, names[place], "", value, **about))
    return TrackFile(tuple(found), left_out_sentence(empty, "their cells are empty"))


def _is_metric(rows: list[TableRow], place: int) -> bool:
    """Whether a column has a number, and nothing but numbers in the first row that has any."""
    for row in rows:
        cell = row.cells[place].strip()
        if cell in MISSING:
            continue
        try:
            number_of(cell)
        except ValueError:
            return False
        return True
    return False


def _about(source: Source, row: TableRow, names: list[str]) -> dict[str, Any]:
    """What a row says of all of its values."""
    return {
        "revision": _attribute(row, names, _REVISIONS),
        "measured_unix_s": _time(source, row, names),
        "host": _attribute(row, names, _HOSTS),
        "branch": _attribute(row, names, _BRANCHES),
    }


def _attribute(row: TableRow, names: list[str], known: tuple[str, ...]) -> str | None:
    found = next((name for name in known if name in names), None)
    return None if found is None else row.cells[names.index(found)].strip() or None


def _time(source: Source, row: TableRow, names: list[str]) -> float:
    cell = row.cells[names.index("time")]
    seconds = unix_time_of(cell)
    if seconds is None:
        raise DataError(
            f"{source.name}, line {row.line}: time must be a date or the seconds since 1970, not "
            f"{cell[:40]!r}.",
            field="time",
        )
    return seconds


EXTENSION = TrackReader(
    name="otava-csv",
    tool="Apache Otava",
    description="CSV with a column `time`, attributes such as `commit`, and a column a metric.",
    recognises=recognises,
    read=read,
)
