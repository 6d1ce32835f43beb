"""pyperf's JSON (``-o FILE``), version 1.0.

A run is one process and so one execution; its ``values`` are already divided by the loops.
Fields as documented in doc/api.rst of psf/pyperf, under 'Benchmark JSON files'.
"""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.json_text import json_value
from steelyard.harness.quantities import base_unit

VERSION = "1.0"
# In Steelyard's own files: which metric the values are of.
OWN_METRIC = "steelyard_metric"
METRICS = {"s": ITERATION_TIME, "bytes": "iteration_memory", "count": "iteration_value"}


def recognises(text: str) -> bool:
    """Whether it is an object of benchmarks with runs."""
    return '"benchmarks"' in text and '"runs"' in text and '"context"' not in text


def read(source: Source) -> tuple[Series, ...]:
    """The runs of each benchmark; those that only calibrated have no values and are left out."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    items = fields.sequence(fields.required(document, "benchmarks", ""), "benchmarks")
    fields.choice(fields.required(document, "version", ""), "version", [VERSION])
    common = fields.mapping(document.get("metadata", {}), "metadata")
    series: list[Series] = []
    for index, item in enumerate(items):
        where = f"benchmarks[{index}]"
        benchmark = fields.mapping(item, where)
        own = fields.mapping(benchmark.get("metadata", {}), f"{where}.metadata")
        found = _runs(fields, benchmark, {**common, **own}, where)
        if not found:
            raise DataError(
                f"{source.name}: {where}.runs has no run with values.", field=f"{where}.runs"
            )
        series += found
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="benchmarks")
    return tuple(series)


def _runs(
    fields: FieldReader, benchmark: dict[str, Any], metadata: dict[str, Any], where: str
) -> list[Series]:
    name = fields.text(fields.required(metadata, "name", f"{where}.metadata"), f"{where}.name")
    unit = fields.text(metadata.get("unit", "second"), f"{where}.metadata.unit")
    factor, ours = base_unit(unit)
    known = METRICS.get(ours, "iteration_value")
    metric = fields.text(metadata.get(OWN_METRIC) or known, f"{where}.metadata.{OWN_METRIC}")
    runs = fields.sequence(fields.required(benchmark, "runs", where), f"{where}.runs")
    series: list[Series] = []
    for index, item in enumerate(runs):
        place = f"{where}.runs[{index}]"
        run = fields.mapping(item, place)
        values = fields.sequence(run.get("values", []), f"{place}.values")
        if not values:
            continue
        warmups = fields.sequence(run.get("warmups", []), f"{place}.warmups")
        warm = [_warmup(fields, pair, f"{place}.warmups[{i}]") for i, pair in enumerate(warmups)]
        kept = [fields.number(v, f"{place}.values[{i}]") for i, v in enumerate(values)]
        series.append(
            Series(
                name,
                metric,
                ours,
                tuple(value * factor for value in (*warm, *kept)),
                warmup_count=len(warm),
                execution=len(series),
            )
        )
    return series


def _warmup(fields: FieldReader, pair: Any, where: str) -> float:
    """A pair of loops and the value for one loop."""
    parts = fields.sequence(pair, where)
    if len(parts) != 2:
        raise fields.error(where, "a pair of loops and value", pair)
    return fields.number(parts[1], f"{where}[1]")


EXTENSION = Adapter(
    name="pyperf",
    harness="pyperf",
    description="Its JSON; each run is an execution, its warm-ups are marked.",
    recognises=recognises,
    read=read,
    one_execution="--processes 1",
)
