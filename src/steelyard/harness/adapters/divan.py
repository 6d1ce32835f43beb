"""divan's table, as ``cargo bench`` prints it.

It has no other output: the mean of a benchmark's samples is its one value an execution, with four
digits; the median and the fastest sample are metrics beside it. Columns are those of
divan/src/tree_painter.rs: fastest, slowest, median, mean, samples, iters.
"""

from __future__ import annotations

import re

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Metric, Series, Source
from steelyard.harness.quantities import SECONDS

_HEAD = re.compile(r"(?P<name>\S.*?) +fastest +│ slowest +│ median +│ mean +│ samples +│ iters *")
_TREE = re.compile(r"(?P<above>(?:│  |   )*)(?:├─|╰─) (?P<rest>.*)")
_TIME = re.compile(r"(?P<value>\d{1,20}(?:\.\d{1,20})?) (?P<unit>ns|µs|μs|ms|s|m|h)")
_FIRST = re.compile(r"(?P<name>.*?\S) +(?P<time>\d{1,20}(?:\.\d{1,20})? (?:ns|µs|μs|ms|s|m|h)) *")
_METRICS = {"median": "median_time", "fastest": "fastest_time"}


def recognises(text: str) -> bool:
    """Whether a line has the heads of its columns."""
    return any(_HEAD.fullmatch(line) for line in text.split("\n") if "│ slowest" in line)


def read(source: Source) -> tuple[Series, ...]:
    """The rows with times, named by the tree that they stand in."""
    fields = FieldReader(source.name)
    path: list[str] = []
    series: list[Series] = []
    in_table = False
    for number, line in enumerate(source.text.replace("\r\n", "\n").split("\n"), start=1):
        head = _HEAD.fullmatch(line) if "│ slowest" in line else None
        if head is not None:
            path, in_table = [head["name"]], True
            continue
        row = _TREE.fullmatch(line) if in_table else None
        if row is None:
            continue
        depth = 1 + len(row["above"]) // 3
        cells = [cell.strip() for cell in row["rest"].split("│")]
        first = _FIRST.fullmatch(row["rest"].split("│")[0])
        name = cells[0] if first is None else first["name"].strip()
        path = [*path[:depth], name]
        if first is not None:
            cells[0] = first["time"]
            series += _series(fields, "/".join(path), cells, f"line {number}")
    if not series:
        raise DataError(f"{source.name} has no table of divan's with a time.", field="the lines")
    return tuple(series)


def _series(fields: FieldReader, name: str, cells: list[str], where: str) -> list[Series]:
    if len(cells) < 6:
        raise fields.error(where, "fastest, slowest, median, mean, samples, iters", cells)
    columns = ("fastest", "slowest", "median", "mean")
    told: dict[str, str] = dict(zip(columns, cells, strict=False))
    found = [Series(name, ITERATION_TIME, "s", (_time_s(fields, told["mean"], where),))]
    for theirs, ours in _METRICS.items():
        found.append(Series(name, ours, "s", (_time_s(fields, told[theirs], where),)))
    return found


def _time_s(fields: FieldReader, text: str, where: str) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise fields.error(where, "a time such as 12.3 ns", text)
    unit = "min" if match["unit"] == "m" else match["unit"]
    return float(match["value"]) * SECONDS[unit]


EXTENSION = Adapter(
    name="divan",
    harness="divan",
    description="Its table; the mean of a benchmark's samples is the one value of an execution.",
    recognises=recognises,
    read=read,
    metrics=(Metric(ITERATION_TIME, "s"), *(Metric(name, "s") for name in _METRICS.values())),
)
