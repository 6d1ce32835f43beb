"""k6's JSON lines (``k6 run --out json=FILE``).

A line is a metric's definition or a point of it (grafana.com/docs/k6, 'JSON' output). Trends are
read: an iteration of the script is an iteration, each other trend a metric of its own.
"""

from __future__ import annotations

import json
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader, json_fault
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source

MILLISECONDS = 1e-3
DURATION = "iteration_duration"
UNITS = {"time": ("s", MILLISECONDS), "data": ("bytes", 1.0), "default": ("count", 1.0)}


def recognises(text: str) -> bool:
    """Whether the first line is a definition or a point of a metric."""
    first = text.lstrip().split("\n", 1)[0]
    told = '"type":"Metric"' in first or '"type":"Point"' in first
    return first.startswith("{") and told and '"metric":' in first


def read(source: Source) -> tuple[Series, ...]:
    """The trends of each scenario."""
    fields = FieldReader(source.name)
    units: dict[str, tuple[str, float]] = {}
    found: dict[tuple[str, str], list[float]] = {}
    for number, line in enumerate(source.text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        row = fields.mapping(_decoded(source, line, where), where)
        data = fields.mapping(fields.required(row, "data", where), f"{where}: data")
        metric = fields.text(fields.required(row, "metric", where), f"{where}: metric")
        kind = fields.choice(row.get("type"), f"{where}: type", ["Metric", "Point"])
        if kind == "Metric" and data.get("type") == "trend":
            contains = data.get("contains", "default")
            units[metric] = UNITS[fields.choice(contains, f"{where}: contains", list(UNITS))]
        elif kind == "Point" and metric in units:
            value = fields.finite(fields.required(data, "value", where), f"{where}: value")
            scenario = _scenario(fields, data, where)
            found.setdefault((scenario, metric), []).append(value * units[metric][1])
    if not found:
        raise DataError(f"{source.name} holds no point of a trend.", field="the lines")
    return tuple(
        Series(
            scenario,
            ITERATION_TIME if metric == DURATION else metric,
            units[metric][0],
            tuple(values),
        )
        for (scenario, metric), values in found.items()
    )


def _decoded(source: Source, line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{source.name}: {where} is not whole JSON: {json_fault(error)}.", field=where
        ) from None


def _scenario(fields: FieldReader, data: dict[str, Any], where: str) -> str:
    tags = fields.mapping(data.get("tags") or {}, f"{where}: tags")
    return fields.text(tags.get("scenario", ""), f"{where}: tags.scenario")


EXTENSION = Adapter(
    name="k6",
    harness="k6",
    description="Its JSON lines; an iteration of the script is an iteration, trends are metrics.",
    recognises=recognises,
    read=read,
)
