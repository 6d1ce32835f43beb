"""Plain CSV with one value a row.

Columns by their names, in any order, small or capital letters: ``value`` (or ``mean``,
``median``) must be there; `_COLUMNS` has the others. Further columns are passed over. The delimiter
is a comma, a semicolon or a tab.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source
from steelyard.harness.track_reader import TrackFile, TrackReader, left_out_sentence
from steelyard.harness.track_table import (
    MISSING,
    TableRow,
    cell_number,
    checked_columns,
    column_names,
    table_rows,
)
from steelyard.harness.track_units import Quantity, quantity_of, unix_time_of

VALUES = ("value", "mean", "median")
_PLACES = ("index", "position")
_REVISIONS = ("revision", "commit", "version", "sha", "hash", "build")
_COLUMNS: dict[str, tuple[str, ...]] = {
    "value": VALUES,
    "benchmark": ("benchmark", "series", "track", "test", "name"),
    "metric": ("metric", "measure"),
    "unit": ("unit",),
    "direction": ("direction",),
    "host": ("host", "machine"),
    "branch": ("branch",),
    "revision": _REVISIONS,
    "first_revision": ("first_revision", "first_commit"),
    "position": _PLACES,
    "low": ("low", "lower", "lower_value"),
    "high": ("high", "upper", "upper_value"),
    "confidence": ("confidence",),
    "count": ("count", "trials", "measurements", "n"),
    "time": ("time", "timestamp", "date"),
}
_DIRECTIONS: dict[str, Direction] = {"lower": "lower", "higher": "higher", "": "lower"}


class _Layout(NamedTuple):
    """Where what stands in a row."""

    source: Source
    names: list[str]
    places: dict[str, int]
    benchmark: str

    def text(self, row: TableRow, what: str) -> str:
        place = self.places.get(what)
        return "" if place is None else row.cells[place].strip()

    def name(self, what: str) -> str:
        """What the file calls a column."""
        return self.names[self.places[what]]

    def number(self, row: TableRow, what: str) -> float | None:
        place = self.places.get(what)
        if place is None:
            return None
        cell = row.cells[place].strip()
        return None if cell in MISSING else cell_number(self.source, row, cell, self.names[place])


def recognises(text: str) -> bool:
    """Whether its first line names a value and what it is of."""
    first = text.split("\n", 1)[0]
    if first.lstrip()[:1] in ("{", "[", "<", ""):
        return False
    names = set(column_names(first))
    of_what = {*_COLUMNS["benchmark"], *_COLUMNS["revision"], *_COLUMNS["position"]}
    return bool(names & set(VALUES)) and bool(names & of_what)


def read(source: Source) -> TrackFile:
    """A value for each row that has one."""
    layout = _layout(source)
    quantities: dict[str, Quantity] = {}
    rows: list[TrackRow] = []
    empty = 0
    for row in table_rows(source, len(layout.names)):
        value = layout.number(row, "value")
        if value is None:
            empty += 1
            continue
        unit = layout.text(row, "unit")
        if unit not in quantities:
            quantities[unit] = quantity_of(unit)
        rows.append(_row(layout, row, value, quantities[unit]))
    return TrackFile(tuple(rows), left_out_sentence(empty, "their cells are empty"))


def _layout(source: Source) -> _Layout:
    names = checked_columns(source)
    places: dict[str, int] = {}
    for what, known in _COLUMNS.items():
        found = next((name for name in known if name in names), None)
        if found is not None:
            places[what] = names.index(found)
    if "value" not in places:
        raise DataError(
            f"{source.name} has no column 'value', 'mean' or 'median', but {', '.join(names)}.",
            field="value",
        )
    stem = os.path.basename(source.name).partition(".")[0]
    return _Layout(source, names, places, stem)


def _row(layout: _Layout, row: TableRow, value: float, quantity: Quantity) -> TrackRow:
    source = layout.source
    factor = quantity.factor
    low, high = layout.number(row, "low"), layout.number(row, "high")
    if low is None or high is None:
        low = high = None
    position = _whole(layout, row, "position")
    revision = layout.text(row, "revision") or (None if position is None else str(position))
    stamp = layout.text(row, "time")
    time_unix_s = None if stamp in MISSING else unix_time_of(stamp)
    if stamp not in MISSING and time_unix_s is None:
        raise _wrong(source, row, layout.name("time"), "a date or the seconds since 1970", stamp)
    direction = layout.text(row, "direction").lower()
    if direction not in _DIRECTIONS:
        raise _wrong(source, row, "direction", "lower or higher", direction)
    confidence = layout.number(row, "confidence")
    if confidence is not None and not 0 < confidence < 1:
        raise _wrong(source, row, "confidence", "between 0 and 1", str(confidence))
    return TrackRow(
        layout.text(row, "benchmark") or layout.benchmark,
        layout.text(row, "metric"),
        quantity.unit,
        value * factor,
        _DIRECTIONS[direction] if direction else quantity.direction,
        revision=revision,
        low=None if low is None else low * factor,
        high=None if high is None else high * factor,
        confidence=confidence,
        trial_count=_whole(layout, row, "count") or 0,
        measured_unix_s=time_unix_s,
        position=position,
        first_revision=layout.text(row, "first_revision") or None,
        host=layout.text(row, "host") or None,
        branch=layout.text(row, "branch") or None,
    )


def _whole(layout: _Layout, row: TableRow, what: str) -> int | None:
    """A whole number from 0 in a cell; tools also write 3.0."""
    number = layout.number(row, what)
    if number is None:
        return None
    if number != int(number) or not 0 <= number < 2**53:
        cell = layout.text(row, what)
        raise _wrong(layout.source, row, layout.name(what), "a whole number from 0", cell)
    return int(number)


def _wrong(source: Source, row: TableRow, column: str, wanted: str, found: str) -> DataError:
    shown = found if len(found) <= 40 else found[:39] + "…"
    return DataError(
        f"{source.name}, line {row.line}: {column} must be {wanted}, not {shown!r}.", field=column
    )


EXTENSION = TrackReader(
    name="csv",
    tool="a program that writes CSV",
    description="CSV, a row a value: `value` or `mean`, `revision` or `index`, `series`.",
    recognises=recognises,
    read=read,
)
