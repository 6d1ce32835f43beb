"""nanobench's JSON (its template ``ankerl::nanobench::templates::json()``).

An epoch is an iteration, its time in seconds for one run of the function. Counters that are 0 in
every epoch are not there: nanobench writes 0 for what the machine does not count.
"""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Metric, Series, Source
from steelyard.harness.json_text import json_value

COUNTERS = {
    "instructions": "instructions",
    "cpucycles": "cycles",
    "contextswitches": "context_switches",
    "pagefaults": "page_faults",
    "branchinstructions": "branches",
    "branchmisses": "branch_misses",
}


def recognises(text: str) -> bool:
    """Whether it has results with epochs."""
    return '"results"' in text and '"epochs"' in text and '"measurements"' in text


def read(source: Source) -> tuple[Series, ...]:
    """The epochs of each benchmark."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    items = fields.sequence(fields.required(document, "results", ""), "results")
    rows = [fields.mapping(item, f"results[{i}]") for i, item in enumerate(items)]
    several = len({str(row.get("title")) for row in rows}) > 1
    series: list[Series] = []
    for index, row in enumerate(rows):
        where = f"results[{index}]"
        name = fields.text(fields.required(row, "name", where), f"{where}.name")
        if several:
            name = f"{fields.text(row.get('title', ''), f'{where}.title')}/{name}"
        series += _series(fields, row, name, where)
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="results")
    return tuple(series)


def _series(fields: FieldReader, row: dict[str, Any], name: str, where: str) -> list[Series]:
    place = f"{where}.measurements"
    items = fields.sequence(fields.required(row, "measurements", where), place)
    epochs = [fields.mapping(item, f"{place}[{i}]") for i, item in enumerate(items)]
    times = tuple(
        fields.number(fields.required(epoch, "elapsed", f"{place}[{i}]"), f"{place}[{i}].elapsed")
        for i, epoch in enumerate(epochs)
    )
    if not times:
        return [Series(name, ITERATION_TIME, "s", (), error="it has no epoch")]
    found = [Series(name, ITERATION_TIME, "s", times)]
    for theirs, ours in COUNTERS.items():
        values = tuple(
            fields.number(epoch.get(theirs, 0), f"{place}[{i}].{theirs}")
            for i, epoch in enumerate(epochs)
        )
        if any(values):
            found.append(Series(name, ours, "count", values))
    return found


EXTENSION = Adapter(
    name="nanobench",
    harness="nanobench",
    description="Its JSON; an epoch is an iteration.",
    recognises=recognises,
    read=read,
    metrics=(Metric(ITERATION_TIME, "s"), *(Metric(name, "count") for name in COUNTERS.values())),
)
