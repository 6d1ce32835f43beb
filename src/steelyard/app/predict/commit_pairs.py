"""Pairs of revisions with indicators and labels, read from a CSV file or a kept predictor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, cast

from steelyard.core.decoding import DECODING_FAULTS, regular_opener
from steelyard.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.predict.commits.pair_table import PairTable

# The columns that are no indicators, each with the names that are understood.
_COLUMNS = {
    "benchmark": ("benchmark",),
    "known": ("known", "baseline", "from"),
    "unknown": ("unknown", "candidate", "to", "revision"),
    "project": ("project",),
    "order": ("order", "index"),
    "distance": ("distance",),
    "cost_s": ("cost_s",),
    "changed": ("changed", "verdict"),
}
_NUMBERS = ("order", "distance", "cost_s")
_YES = frozenset({"yes", "true", "1", "faster", "slower", "changed"})
_NO = frozenset({"no", "false", "0", "equivalent", "unchanged"})
_NEITHER = frozenset({"", "undecided", "na", "nan"})
PREDICTOR_KIND = "commit-predictor"


@dataclass(frozen=True)
class PairOptions:
    """How a table of pairs is read.

    Parameters
    ----------
    indicators : tuple of str
        Columns; empty: every column of numbers that is nothing else.
    drop : tuple of str
        Columns that are no indicators.
    """

    indicators: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


def read_pairs(path: str, options: PairOptions) -> PairTable:
    """The pairs of a CSV file: one row for each benchmark and pair of revisions.

    Raises
    ------
    DataError, UsageError
        The file is no table, lacks a column, or has a value that is none.
    """
    import numpy as np

    from steelyard.predict.commits.pair_table import PairTable
    from steelyard.store.data_table import read_data_table

    table = read_data_table(path)
    found = {role: _column_of(table, names) for role, names in _COLUMNS.items()}
    count = len(table.lines)
    for role in ("benchmark", "unknown"):
        if found[role] is None:
            raise DataError(
                f"{path} has no column {role!r}.\nA table of pairs has the columns benchmark, "
                "known, unknown, changed, and one for each indicator.",
                field=role,
            )
    texts = {role: _texts(table, found[role]) for role in ("benchmark", "known", "unknown")}
    numbers = {role: _numbers(table, found[role], role) for role in _NUMBERS}
    if found["order"] is None:
        numbers["order"] = _first_seen(texts["unknown"])
    names = _indicator_names(table, options, {name for name in found.values() if name})
    values = [_numbers(table, name, "indicators") for name in names]
    _refuse_negative(table, names, values)
    return PairTable(
        path,
        tuple(texts["benchmark"]),
        tuple(texts["known"]),
        tuple(texts["unknown"]),
        tuple(_texts(table, found["project"])),
        np.array(numbers["order"], float),
        np.array(numbers["distance"], float),
        np.array(numbers["cost_s"], float),
        tuple(names),
        np.array(values, float).T.reshape(count, len(names)),
        np.array(_labels(table, found["changed"]), float),
    )


def _column_of(table: Table, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.columns), None)


def _texts(table: Table, name: str | None) -> list[str]:
    """A column as text, numbers as they would be typed."""
    if name is None:
        return [""] * len(table.lines)
    column = table.columns[name]
    if isinstance(column, tuple):
        return list(column)
    return ["" if isnan(number) else f"{number:.12g}" for number in column.tolist()]


def _numbers(table: Table, name: str | None, role: str) -> list[float]:
    if name is None:
        return [nan] * len(table.lines)
    return table.numbers(name, role).tolist()


def _first_seen(revisions: Sequence[str]) -> list[float]:
    """The order of the rows: a revision is as old as its first row."""
    places: dict[str, float] = {}
    return [places.setdefault(revision, float(len(places))) for revision in revisions]


def _indicator_names(table: Table, options: PairOptions, taken: set[str]) -> list[str]:
    named = [("--indicator", name) for name in options.indicators]
    for option, name in [*named, *(("--drop", name) for name in options.drop)]:
        if name not in table.columns:
            raise UsageError(f"{option} {name}: {table.source} has no such column.", field=option)
    if options.indicators:
        return list(dict.fromkeys(options.indicators))
    others = taken | set(options.drop) | {name for names in _COLUMNS.values() for name in names}
    return [
        name
        for name, column in table.columns.items()
        if name not in others and not isinstance(column, tuple)
    ]


def _refuse_negative(table: Table, names: Sequence[str], values: Sequence[list[float]]) -> None:
    for name, column in zip(names, values, strict=True):
        for line, value in zip(table.lines, column, strict=True):
            if value < 0 or value == float("inf"):
                raise DataError(
                    f"{table.source}, line {line}, column {name!r}: {value:g} is no indicator.\n"
                    "An indicator is 0 or a larger finite number, or empty where it is unknown.",
                    field=name,
                )


def _labels(table: Table, name: str | None) -> list[float]:
    labels: list[float] = []
    for line, text in zip(table.lines, _texts(table, name), strict=True):
        word = text.strip().lower()
        if word not in _YES | _NO | _NEITHER:
            raise DataError(
                f"{table.source}, line {line}: {text!r} does not say whether the time changed.\n"
                "Accepted: yes, no, true, false, 1, 0, the verdicts faster, slower, equivalent, "
                "undecided, or nothing.",
                field=name,
            )
        labels.append(1.0 if word in _YES else 0.0 if word in _NO else nan)
    return labels


def _texts_of(values: Sequence[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("a name is no text")
    return tuple(values)


def read_predictor_pairs(path: str) -> tuple[PairTable, float, str | None]:
    """The pairs that a kept predictor was learnt from, its wanted hit rate, and its model.

    Raises
    ------
    DataError
        The file is not what ``learn`` writes.
    """
    import numpy as np

    from steelyard.predict.commits.pair_table import PairTable
    from steelyard.store.whole_file import file_errors

    try:
        with file_errors(path, "read"), open(path, encoding="utf-8", opener=regular_opener) as file:
            kept: Mapping[str, Any] = json.load(file)
        if kept["kind"] != PREDICTOR_KIND:
            raise ValueError("kind")
        rows = cast("list[dict[str, Any]]", kept["rows"])
        names = _texts_of(kept["indicators"])
        columns: dict[str, Any] = {
            key: [row[key] for row in rows]
            for key in ("benchmark", "known", "unknown", "project", *_NUMBERS, "changed")
        }
        values = np.array([row["values"] for row in rows], float).reshape(len(rows), len(names))
        model = None if kept["model_named"] is None else str(kept["model_named"])
        wanted = float(kept["wanted_hit_rate"])
        # A missing value is NaN.
        if not 0 < wanted < 1 or np.isinf(values).any() or (values < 0).any():
            raise ValueError("a value is out of range")
        table = PairTable(
            path,
            _texts_of(columns["benchmark"]),
            _texts_of(columns["known"]),
            _texts_of(columns["unknown"]),
            _texts_of(columns["project"]),
            np.array(columns["order"], float),
            np.array(columns["distance"], float),
            np.array(columns["cost_s"], float),
            names,
            values,
            np.array(columns["changed"], float),
        )
    except DECODING_FAULTS:
        raise DataError(
            f"{path} is no predictor.\nA predictor is written by "
            "`steelyard predict commits learn PAIRS.csv --output FILE`.",
            field="file",
        ) from None
    return table, wanted, model
