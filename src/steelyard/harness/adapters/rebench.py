"""ReBench's data file: one measurement a line, in columns with tabs between them.

As rebench/persistence.py of smarr/ReBench writes it: lines that begin with ``#`` say what was run,
the first other one names the columns. An invocation is an execution; criterion ``total`` is the
time of an iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.core.decoding import number_of
from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.quantities import base_unit

TOTAL = "total"
REQUIRED = ("invocation", "iteration", "value", "unit", "criterion", "benchmark")
# Columns that tell runs of one benchmark apart, named where they differ in the file.
TELLING = ("executor", "suite", "extraArgs", "cores", "inputSize", "varValue", "tag")


def recognises(text: str) -> bool:
    """Whether a line names its columns."""
    return any(_is_header(line) for line in text.split("\n"))


def _is_header(line: str) -> bool:
    return line.startswith("invocation\titeration\tvalue\tunit\tcriterion\tbenchmark")


def read(source: Source) -> tuple[Series, ...]:
    """The measurements of each benchmark, an invocation an execution."""
    fields = FieldReader(source.name)
    rows = list(_rows(source))
    telling = [name for name in TELLING if len({row.get(name, "") for _, row in rows}) > 1]
    found: dict[tuple[str, str, int], list[float]] = {}
    units: dict[str, str] = {}
    for where, row in rows:
        name = " ".join(filter(None, (row["benchmark"], *(row[t] for t in telling))))
        metric = ITERATION_TIME if row["criterion"] == TOTAL else row["criterion"]
        factor, unit = base_unit(row["unit"])
        if not metric or units.setdefault(metric, unit) != unit:
            wanted = f"{units.get(metric, 'named')} as in the lines before"
            raise fields.error(f"{where}: unit", wanted, row["unit"])
        invocation = _number(fields, row["invocation"], f"{where}: invocation", int)
        value = _number(fields, row["value"], f"{where}: value", float)
        key = (name, metric, invocation)
        found.setdefault(key, []).append(fields.finite(value, f"{where}: value") * factor)
    if not found:
        raise DataError(f"{source.name} holds no measurement.", field="the lines")
    places = _places(found)
    return tuple(
        Series(name, metric, units[metric], tuple(values), execution=places[name][invocation])
        for (name, metric, invocation), values in found.items()
    )


def _places(keys: Any) -> dict[str, dict[int, int]]:
    """Which execution each invocation of each benchmark is, from 0."""
    places: dict[str, dict[int, int]] = {}
    for name, _, invocation in keys:
        own = places.setdefault(name, {})
        own.setdefault(invocation, len(own))
    return places


def _number(fields: FieldReader, text: str, where: str, kind: type) -> Any:
    try:
        return number_of(text, kind)
    except ValueError:
        wanted = "a whole number" if kind is int else "a finite number"
        raise fields.error(where, wanted, text) from None


def _rows(source: Source) -> Iterator[tuple[str, dict[str, str]]]:
    """The cells of each line by their columns, with the line's number."""
    names: list[str] = []
    lines = source.text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("#"):
            continue
        if _is_header(line):
            names = line.split("\t")
            continue
        cells = line.split("\t")
        if not names:
            break
        if len(cells) != len(names) or number == len(lines):
            raise DataError(
                f"{source.name}: line {number} has not as many cells as there are columns, or no "
                "end: it is cut off.",
                field=f"line {number}",
            )
        yield f"line {number}", dict(zip(names, cells, strict=True))
    if not names:
        raise DataError(
            f"{source.name} has no line that names the columns {', '.join(REQUIRED)}.",
            field="the lines",
        )


EXTENSION = Adapter(
    name="rebench",
    harness="ReBench",
    description="Its data file; an invocation is an execution, criteria are metrics.",
    recognises=recognises,
    read=read,
)
