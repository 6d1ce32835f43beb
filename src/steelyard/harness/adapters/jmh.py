"""JMH's JSON (``-rf json``).

A fork is one execution, its measurement iterations are the iterations; JMH leaves those of its
warm-up out of the file. Fields as in JSONResultFormat.java of openjdk/jmh, 1.37.
"""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Metric, Series, Source
from steelyard.harness.json_text import json_value
from steelyard.harness.quantities import SECONDS, base_unit

MODES = ("thrpt", "avgt", "sample", "ss")
# Of what profilers such as `stack` tell in words: TextResult.java, with "NaN" for each score.
NO_UNIT = "---"


def recognises(text: str) -> bool:
    """Whether it is a list of results with a ``primaryMetric``."""
    return '"primaryMetric"' in text and '"mode"' in text


def read(source: Source) -> tuple[Series, ...]:
    """The forks of each result, and its secondary metrics by their names."""
    fields = FieldReader(source.name)
    results = fields.sequence(json_value(source), "the top level")
    series: list[Series] = []
    executions: dict[str, int] = {}
    for index, item in enumerate(results):
        where = f"[{index}]"
        result = fields.mapping(item, where)
        fields.choice(fields.required(result, "mode", where), f"{where}.mode", MODES)
        name = _name(fields, result, where)
        first = executions.get(name, 0)
        metrics = {"": fields.required(result, "primaryMetric", where)}
        secondary = result.get("secondaryMetrics", {})
        metrics |= fields.mapping(secondary, f"{where}.secondaryMetrics")
        for metric, data in metrics.items():
            place = f"{where}.secondaryMetrics.{metric}" if metric else f"{where}.primaryMetric"
            series += _forks(fields, (name, metric, first), data, place)
        own = [item.execution for item in series if item.benchmark == name]
        executions[name] = 1 + max(own, default=first)
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="the top level")
    return tuple(series)


def _name(fields: FieldReader, result: dict[str, Any], where: str) -> str:
    given = fields.text(fields.required(result, "benchmark", where), f"{where}.benchmark")
    parameters = fields.mapping(result.get("params") or {}, f"{where}.params")
    shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{given} ({shown})" if shown else given


def _forks(fields: FieldReader, key: tuple[str, str, int], data: Any, where: str) -> list[Series]:
    name, secondary, first = key
    metric = fields.mapping(data, where)
    unit = fields.text(fields.required(metric, "scoreUnit", where), f"{where}.scoreUnit")
    if secondary and unit == NO_UNIT:
        return []
    factor, ours, direction = _unit(unit)
    if "rawDataHistogram" in metric:
        place = f"{where}.rawDataHistogram"
        forks = fields.sequence(metric["rawDataHistogram"], place)
        rows = [_histogram_means(fields, fork, f"{place}[{i}]") for i, fork in enumerate(forks)]
    else:
        place = f"{where}.rawData"
        forks = fields.sequence(fields.required(metric, "rawData", where), place)
        rows = [_scores(fields, fork, f"{place}[{i}]") for i, fork in enumerate(forks)]
    if not rows and not secondary:
        raise fields.error(place, "a list of at least one fork", [])
    return [
        Series(
            name,
            secondary or (ITERATION_TIME if ours == "s" else "throughput"),
            ours,
            tuple(value * factor for value in row),
            direction=direction,
            execution=first + number,
        )
        for number, row in enumerate(rows)
        if row
    ]


def _unit(unit: str) -> tuple[float, str, Direction]:
    """``ns/op`` and ``ops/ms`` in seconds and operations a second; the rest in its own unit."""
    amount, _, per = unit.partition("/")
    if per == "op" and amount in SECONDS:
        return SECONDS[amount], "s", "lower"
    if amount == "ops" and per in SECONDS:
        return 1.0 / SECONDS[per], "op/s", "higher"
    factor, ours = base_unit(unit)
    return factor, ours, "lower"


def _scores(fields: FieldReader, fork: Any, where: str) -> list[float]:
    items = fields.sequence(fork, where)
    return [fields.finite(item, f"{where}[{i}]") for i, item in enumerate(items)]


def _histogram_means(fields: FieldReader, fork: Any, where: str) -> list[float]:
    """The mean of each iteration of mode ``sample``, from its pairs of value and count."""
    means: list[float] = []
    for i, iteration in enumerate(fields.sequence(fork, where)):
        total, count = 0.0, 0
        for j, pair in enumerate(fields.sequence(iteration, f"{where}[{i}]")):
            place = f"{where}[{i}][{j}]"
            value, times = (*fields.sequence(pair, place), None, None)[:2]
            times = fields.whole(times, place)
            total += fields.finite(value, place) * times
            count += times
        if count <= 0:
            raise fields.error(f"{where}[{i}]", "a list with samples", iteration)
        means.append(total / count)
    return means


EXTENSION = Adapter(
    name="jmh",
    harness="JMH",
    description="Its JSON (`-rf json -rff FILE`); mode thrpt gives `throughput`, the others "
    "`iteration_time`.",
    recognises=recognises,
    read=read,
    metrics=(Metric(ITERATION_TIME, "s"), Metric("throughput", "op/s", "higher")),
    one_execution="-f 1",
)
