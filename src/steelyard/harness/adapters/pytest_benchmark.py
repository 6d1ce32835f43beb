"""pytest-benchmark's JSON (``--benchmark-json FILE``, or what ``--benchmark-save`` keeps).

A round is an iteration; times are in seconds and already divided by the calls of a round. Fields
as in src/pytest_benchmark/stats.py of ionelmc/pytest-benchmark (``Metadata.as_dict``).
"""

from __future__ import annotations

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.json_text import json_value


def recognises(text: str) -> bool:
    """Whether it begins with the machine and the commit, as its files do."""
    return '"machine_info"' in text and ('"commit_info"' in text or '"benchmarks"' in text)


def read(source: Source) -> tuple[Series, ...]:
    """The rounds of each benchmark; the mean where a file was saved without them."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    items = fields.sequence(fields.required(document, "benchmarks", ""), "benchmarks")
    series: list[Series] = []
    for index, item in enumerate(items):
        where = f"benchmarks[{index}]"
        row = fields.mapping(item, where)
        given = row.get("fullname") or fields.required(row, "name", where)
        name = fields.text(given, f"{where}.name")
        stats = fields.mapping(fields.required(row, "stats", where), f"{where}.stats")
        place = f"{where}.stats.data"
        data = fields.sequence(stats.get("data") or [], place)
        values = [fields.number(value, f"{place}[{i}]") for i, value in enumerate(data)]
        if not values:
            mean = fields.required(stats, "mean", f"{where}.stats")
            values = [fields.number(mean, f"{where}.stats.mean")]
        series.append(Series(name, ITERATION_TIME, "s", tuple(values)))
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="benchmarks")
    return tuple(series)


EXTENSION = Adapter(
    name="pytest-benchmark",
    harness="pytest-benchmark",
    description="Its JSON; a round is an iteration, a file without rounds gives means.",
    recognises=recognises,
    read=read,
)
