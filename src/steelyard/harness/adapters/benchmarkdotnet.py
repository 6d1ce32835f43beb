"""BenchmarkDotNet's JSON (``--exporters json``): the full exporter's, or the brief one's.

As BenchmarkDotNet.Exporters.Json writes it: ``Measurements`` of each launch, of which those of mode
``Workload`` and stage ``Result`` are the values (mode ``Result`` in old versions), in nanoseconds
for a number of operations; ``Statistics.OriginalValues`` where the exporter leaves them out.
"""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Metric, Series, Source
from steelyard.harness.json_text import json_value

NANOSECONDS = 1e-9
MEMORY = "bytes_per_op"


def recognises(text: str) -> bool:
    """Whether it tells of the host as its exporters do."""
    return '"HostEnvironmentInfo"' in text and '"BenchmarkDotNet' in text


def read(source: Source) -> tuple[Series, ...]:
    """The operations of each benchmark, a launch an execution."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    items = fields.sequence(fields.required(document, "Benchmarks", ""), "Benchmarks")
    series: list[Series] = []
    for index, item in enumerate(items):
        where = f"Benchmarks[{index}]"
        series += _series(fields, fields.mapping(item, where), where)
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="Benchmarks")
    return tuple(series)


def _series(fields: FieldReader, row: dict[str, Any], where: str) -> list[Series]:
    name = _name(fields, row, where)
    if row.get("Statistics") is None:
        return [Series(name, ITERATION_TIME, "s", (), error="it gave no statistics")]
    launches = _launches(fields, row, where)
    if not launches:
        place = f"{where}.Statistics.OriginalValues"
        statistics = fields.mapping(row["Statistics"], f"{where}.Statistics")
        values = fields.sequence(
            fields.required(statistics, "OriginalValues", f"{where}.Statistics"), place
        )
        launches = {
            0: [
                fields.number(value, f"{place}[{i}]") * NANOSECONDS
                for i, value in enumerate(values)
            ]
        }
    found = [
        Series(name, ITERATION_TIME, "s", tuple(values), execution=execution)
        for execution, values in enumerate(launches.values())
        if values
    ]
    memory = fields.mapping(row.get("Memory") or {}, f"{where}.Memory")
    allocated = memory.get("BytesAllocatedPerOperation")
    if allocated is not None:
        value = fields.number(allocated, f"{where}.Memory.BytesAllocatedPerOperation")
        found.append(Series(name, MEMORY, "bytes", (value,)))
    return found


def _name(fields: FieldReader, row: dict[str, Any], where: str) -> str:
    if row.get("FullName"):
        return fields.text(row["FullName"], f"{where}.FullName")
    method = fields.text(fields.required(row, "Method", where), f"{where}.Method")
    kind = fields.text(row.get("Type") or "", f"{where}.Type")
    parameters = fields.text(row.get("Parameters") or "", f"{where}.Parameters")
    name = f"{kind}.{method}" if kind else method
    return f"{name}({parameters})" if parameters else name


def _launches(fields: FieldReader, row: dict[str, Any], where: str) -> dict[int, list[float]]:
    """The seconds an operation of each launch, where measurements were exported."""
    found: dict[int, list[float]] = {}
    items = fields.sequence(row.get("Measurements") or [], f"{where}.Measurements")
    for index, item in enumerate(items):
        place = f"{where}.Measurements[{index}]"
        measurement = fields.mapping(item, place)
        mode, stage = measurement.get("IterationMode"), measurement.get("IterationStage")
        if (mode, stage) not in (("Workload", "Result"), ("Result", None)):
            continue
        launch = fields.whole(measurement.get("LaunchIndex", 1), f"{place}.LaunchIndex")
        count = fields.number(
            fields.required(measurement, "Operations", place), f"{place}.Operations"
        )
        if count <= 0:
            raise fields.error(f"{place}.Operations", "above 0", count)
        total_ns = fields.number(
            fields.required(measurement, "Nanoseconds", place), f"{place}.Nanoseconds"
        )
        found.setdefault(launch, []).append(total_ns * NANOSECONDS / count)
    return found


EXTENSION = Adapter(
    name="benchmarkdotnet",
    harness="BenchmarkDotNet",
    description="Its JSON, full or brief; a launch is an execution.",
    recognises=recognises,
    read=read,
    metrics=(Metric(ITERATION_TIME, "s"), Metric(MEMORY, "bytes")),
    one_execution="--launchCount 1",
)
