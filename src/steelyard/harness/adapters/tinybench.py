"""tinybench's results as JSON: the list of its tasks with ``name`` and ``result``.

tinybench writes no file; ``JSON.stringify(bench.tasks.map(({name, result}) => ({name, result})))``
makes one. Samples are kept with ``retainSamples`` (version 3 and later), in milliseconds and
sorted; without them the mean is the one value.
"""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.json_text import json_value
from steelyard.harness.unordered_values import in_random_order

MILLISECONDS = 1e-3


def recognises(text: str) -> bool:
    """Whether tasks have a result with a latency, or rates as old versions have them."""
    has_results = '"result"' in text and ('"latency"' in text or '"hz"' in text)
    return has_results and '"name"' in text and '"files"' not in text


def read(source: Source) -> tuple[Series, ...]:
    """The samples of each task."""
    fields = FieldReader(source.name)
    value = json_value(source)
    if isinstance(value, dict):
        document = fields.mapping(value, "the top level")
        value = fields.required(document, "tasks", "")
    items = fields.sequence(value, "the tasks")
    series = [_series(fields, fields.mapping(x, f"[{i}]"), f"[{i}]") for i, x in enumerate(items)]
    if not series:
        raise DataError(f"{source.name} holds no task.", field="the tasks")
    return tuple(series)


def _series(fields: FieldReader, task: dict[str, Any], where: str) -> Series:
    name = fields.text(fields.required(task, "name", where), f"{where}.name")
    result = fields.mapping(fields.required(task, "result", where), f"{where}.result")
    if result.get("error") is not None or result.get("state") == "errored":
        told = result.get("error")
        return Series(name, ITERATION_TIME, "s", (), error=str(told or "it failed"))
    place = f"{where}.result"
    if "latency" in result:
        place += ".latency"
        result = fields.mapping(result["latency"], place)
    return Series(name, ITERATION_TIME, "s", sampled(fields, result, place))


def sampled(fields: FieldReader, statistics: dict[str, Any], where: str) -> tuple[float, ...]:
    """The samples in seconds, or their mean where they were not kept."""
    samples = fields.sequence(statistics.get("samples") or [], f"{where}.samples")
    if not samples:
        mean = fields.required(statistics, "mean", where)
        return (fields.number(mean, f"{where}.mean") * MILLISECONDS,)
    values = [fields.number(v, f"{where}.samples[{i}]") for i, v in enumerate(samples)]
    return in_random_order([value * MILLISECONDS for value in values])


EXTENSION = Adapter(
    name="tinybench",
    harness="tinybench",
    description="Its tasks as JSON; a sample is an iteration, results without samples give means.",
    recognises=recognises,
    read=read,
)
