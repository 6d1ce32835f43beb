"""criterion.rs's raw data: ``raw.csv`` or ``sample.json`` of one benchmark.

A sample is one iteration: its measured value divided by its count of inner iterations. The CSV
is documented in the book (user_guide/csv_output.md) as the stable form, with other columns before
version 0.3; ``sample.json`` has ``iters`` and ``times``, in nanoseconds for the usual clock.
"""

from __future__ import annotations

from steelyard.core.decoding import number_of
from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.harness_tables import WHITE, columns_of, table_rows
from steelyard.harness.json_text import json_value
from steelyard.harness.quantities import base_unit

VALUE, OLD_VALUE, COUNT = "sample_measured_value", "sample_time_nanos", "iteration_count"
REPORT_FOLDERS = ("new", "base")


def recognises(text: str) -> bool:
    """Whether it is the table or the object."""
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith("group,function,"):
        return COUNT in first
    return '"sampling_mode"' in text and '"iters"' in text


def read(source: Source) -> tuple[Series, ...]:
    """The samples of each benchmark."""
    start = source.text.lstrip(WHITE)
    return _read_sample(source) if start.startswith("{") else _read_table(source)


def _read_sample(source: Source) -> tuple[Series, ...]:
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    counts = fields.sequence(fields.required(document, "iters", ""), "iters")
    times = fields.sequence(fields.required(document, "times", ""), "times")
    if len(counts) != len(times):
        raise fields.error("times", f"as long as iters ({len(counts)})", len(times))
    values = [
        _each(fields, (time, f"times[{i}]"), (count, f"iters[{i}]")) * 1e-9
        for i, (time, count) in enumerate(zip(times, counts, strict=True))
    ]
    if not values:
        raise fields.error("times", "a list of at least one", times)
    return (Series(_name_from(source.name), ITERATION_TIME, "s", tuple(values)),)


def _name_from(path: str) -> str:
    """``Fibonacci/5`` from ``.../criterion/Fibonacci/5/new/sample.json``: the file has no name."""
    folders = path.split("/")[:-1]
    if folders and folders[-1] in REPORT_FOLDERS:
        folders = folders[:-1]
    start = folders.index("criterion") + 1 if "criterion" in folders else len(folders) - 1
    return "/".join(folders[max(start, 0) :])


def _read_table(source: Source) -> tuple[Series, ...]:
    fields = FieldReader(source.name)
    columns = columns_of(source)
    value_column = OLD_VALUE if OLD_VALUE in columns else VALUE
    for column in ("group", value_column, COUNT):
        if column not in columns:
            raise DataError(f"{source.name} lacks the column {column!r}.", field=column)
    values: dict[tuple[str, str], list[float]] = {}
    for number, row in table_rows(source):
        where = f"line {number}, column"
        measured = _number(fields, row[value_column], f"{where} {value_column!r}")
        count = _number(fields, row[COUNT], f"{where} {COUNT!r}")
        factor, unit = base_unit(row.get("unit", "ns") if value_column == VALUE else "ns")
        name = "/".join(row[part] for part in ("group", "function", "value") if row.get(part))
        each = _each(fields, (measured, f"{where} {value_column!r}"), (count, f"{where} {COUNT!r}"))
        values.setdefault((name, unit), []).append(each * factor)
    if not values:
        raise DataError(f"{source.name} holds no sample.", field="file")
    return tuple(
        Series(name, ITERATION_TIME if unit == "s" else "iteration_value", unit, tuple(found))
        for (name, unit), found in values.items()
    )


def _number(fields: FieldReader, cell: str, where: str) -> float:
    try:
        return number_of(cell)
    except ValueError:
        raise fields.error(where, "a number", cell) from None


def _each(fields: FieldReader, measured: tuple[object, str], count: tuple[object, str]) -> float:
    iterations = fields.number(*count)
    if not iterations:
        raise fields.error(count[1], "above 0", count[0])
    return fields.number(*measured) / iterations


EXTENSION = Adapter(
    name="criterion",
    harness="criterion.rs",
    description="`raw.csv` or `sample.json` of a benchmark; each sample is an iteration.",
    recognises=recognises,
    read=read,
)
