"""Renaissance's JSON (``--json FILE``) and CSV (``--csv FILE``).

Times are ``duration_ns``; other columns or keys (counters of plug-ins, ``uptime_ns``) are metrics
by their names. As written by ResultWriter.scala of renaissance-benchmarks/renaissance, format
version 5 and, with ``results`` of the same form under ``data``, those before it.
"""

from __future__ import annotations

from typing import Any

from steelyard.core.decoding import number_of
from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.harness_tables import WHITE, table_rows
from steelyard.harness.json_text import json_value

DURATION = "duration_ns"
# Clocks, which do not measure the iteration.
CLOCKS = ("uptime_ns", "vm_start_unix_ms", "benchmark")
MISSING = "NA"


def recognises(text: str) -> bool:
    """Whether it is the object or the table of the suite."""
    if text.lstrip().startswith("{"):
        return f'"{DURATION}"' in text and '"results"' in text
    first = text.lstrip().split("\n", 1)[0]
    return first.startswith("benchmark,") and DURATION in first


def read(source: Source) -> tuple[Series, ...]:
    """The repetitions of each benchmark. The harness marks no warm-up."""
    if source.text.lstrip(WHITE).startswith("benchmark,"):
        return _read_table(source)
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    data = fields.mapping(fields.required(document, "data", ""), "data")
    series: list[Series] = []
    for name, item in data.items():
        where = f"data.{name}"
        benchmark = fields.mapping(item, where)
        place = f"{where}.results"
        results = fields.sequence(fields.required(benchmark, "results", where), place)
        rows = [fields.mapping(row, f"{place}[{i}]") for i, row in enumerate(results)]
        failed = benchmark.get("termination", "normal") != "normal"
        series += _series(fields, name, rows, place, f"{name} failed" if failed else None)
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="data")
    return tuple(series)


def _series(
    fields: FieldReader, name: str, rows: list[dict[str, Any]], where: str, error: str | None
) -> list[Series]:
    if not rows:
        return [Series(name, ITERATION_TIME, "s", (), error=error or f"{name} has no repetition")]
    for i, row in enumerate(rows):
        fields.required(row, DURATION, f"{where}[{i}]")
    # A counter that some repetitions lack is no series.
    columns = [key for key in rows[0] if key not in CLOCKS and all(key in row for row in rows)]
    made: list[Series] = []
    for column in columns:
        values = [
            fields.finite(row[column], f"{where}[{i}].{column}") for i, row in enumerate(rows)
        ]
        if column == DURATION:
            times_s = tuple(value * 1e-9 for value in values)
            made.append(Series(name, ITERATION_TIME, "s", times_s, error=error))
        else:
            made.append(Series(name, column, "count", tuple(values), error=error))
    return made


def _read_table(source: Source) -> tuple[Series, ...]:
    fields = FieldReader(source.name)
    by_name: dict[str, list[dict[str, Any]]] = {}
    for number, row in table_rows(source):
        values = {
            column: _cell(fields, cell, f"line {number}, column {column!r}")
            for column, cell in row.items()
            if column not in CLOCKS and cell != MISSING
        }
        by_name.setdefault(row["benchmark"], []).append(values)
    if not by_name:
        raise DataError(f"{source.name} holds no benchmark.", field="file")
    series: list[Series] = []
    for name, rows in by_name.items():
        series += _series(fields, name, rows, f"rows of {name}", None)
    return tuple(series)


def _cell(fields: FieldReader, cell: str, where: str) -> float:
    try:
        return fields.finite(number_of(cell), where)
    except ValueError:
        raise fields.error(where, "a number", cell) from None


EXTENSION = Adapter(
    name="renaissance",
    harness="Renaissance",
    description="Its JSON or CSV; each repetition is an iteration. It marks no warm-up: use "
    "`--warmup-iterations`.",
    recognises=recognises,
    read=read,
)
