"""Results files of asv (airspeed velocity): ``results/MACHINE/COMMIT-ENVIRONMENT.json``.

Versions 1 and 2 as in asv/results.py. A benchmark with parameters has one value for each
combination; units follow from the kind of benchmark that its name begins with (asv's manual,
"Writing benchmarks").
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source
from steelyard.harness.json_text import json_value
from steelyard.harness.track_reader import TrackFile, TrackReader, left_out_sentence

_CONFIDENCE = 0.99
_KINDS: tuple[tuple[str, str, str, Direction], ...] = (
    ("timeraw_", "time", "s", "lower"),
    ("time_", "time", "s", "lower"),
    ("peakmem_", "peak_memory", "bytes", "lower"),
    ("mem_", "memory", "bytes", "lower"),
)
_STATS = ("stats_ci_99_a", "stats_ci_99_b", "stats_repeat", "samples")


def recognises(text: str) -> bool:
    """Whether it has the fields of a results file's head."""
    about = ('"env_name"', '"result_columns"', '"requirements"')
    return '"commit_hash"' in text and any(field in text for field in about)


def read(source: Source) -> TrackFile:
    """A value for each benchmark and combination of parameters."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    commit = fields.text(fields.required(document, "commit_hash", ""), "commit_hash")
    results = fields.mapping(fields.required(document, "results", ""), "results")
    params = fields.mapping(document.get("params", {}), "params")
    machine = fields.text(params.get("machine", ""), "params.machine")
    environment = fields.text(document.get("env_name", ""), "env_name")
    date = document.get("date")
    about = TrackRow(
        benchmark="",
        metric="",
        unit="",
        value=0.0,
        revision=commit,
        host=", ".join(filter(None, (machine, environment))),
        committed_unix_s=None if date is None else fields.number(date, "date") / 1000,
    )
    columns = [fields.text(name, "result_columns") for name in document.get("result_columns", [])]
    rows: list[TrackRow] = []
    failed = 0
    for name, result in results.items():
        for row in _rows(fields, name, _columns_of(fields, name, result, columns), about):
            if row is None:
                failed += 1
            else:
                rows.append(row)
    return TrackFile(tuple(rows), left_out_sentence(failed, "asv says that they failed"))


def _columns_of(fields: FieldReader, name: str, result: Any, columns: list[str]) -> dict[str, Any]:
    """A benchmark's result by the names of its columns."""
    where = f"results.{name}"
    if result is None or isinstance(result, int | float):
        return {"result": [result]}
    if isinstance(result, dict):
        return fields.mapping(result, where)
    values = fields.sequence(result, where)
    if len(values) > len(columns):
        raise DataError(
            f"{fields.path}: {where} has {len(values)} columns, but result_columns names "
            f"{len(columns)}.",
            field=where,
        )
    return dict(zip(columns, values, strict=False))


def _rows(
    fields: FieldReader, name: str, found: dict[str, Any], about: TrackRow
) -> Iterator[TrackRow | None]:
    """A value for each combination of parameters; None for one that failed."""
    where = f"results.{name}"
    if found.get("result") is None:
        yield None
        return
    values = fields.sequence(found["result"], f"{where}.result")
    given = fields.sequence(found.get("params") or [], f"{where}.params")
    lists = [fields.sequence(item, f"{where}.params") for item in given]
    # Counted before they are made: the file says how many there are.
    if math.prod(map(len, lists)) != len(values):
        raise DataError(
            f"{fields.path}: {where} has {len(values)} values for "
            f"{math.prod(map(len, lists))} combinations of its parameters.",
            field=where,
        )
    metric, unit, direction = _kind(name)
    for place, (value, chosen) in enumerate(zip(values, product(*lists), strict=True)):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            yield None
            continue
        told = ", ".join(map(str, chosen))
        number = fields.finite(value, f"{where}.result")
        yield replace(
            about,
            benchmark=f"{name}({told})" if told else name,
            metric=metric,
            unit=unit,
            direction=direction,
            value=number,
            **_statistics(fields, where, found, place, number),
        )


def _statistics(
    fields: FieldReader, where: str, found: dict[str, Any], place: int, value: float
) -> dict[str, Any]:
    """The interval, the samples and their number of one value, as far as they are there."""
    told = {name: _at(fields, f"{where}.{name}", found.get(name), place) for name in _STATS}
    known: dict[str, Any] = {}
    bounds = [_bound(told[name]) for name in _STATS[:2]]
    if bounds[0] is not None and bounds[1] is not None and bounds[0] <= value <= bounds[1]:
        known |= {"low": bounds[0], "high": bounds[1], "confidence": _CONFIDENCE}
    if isinstance(told["samples"], list):
        samples = fields.sequence(told["samples"], f"{where}.samples")
        numbers = tuple(fields.finite(item, f"{where}.samples") for item in samples)
        return {**known, "observations": numbers, "trial_count": len(numbers)}
    repeat = told["stats_repeat"]
    if isinstance(repeat, int) and not isinstance(repeat, bool) and 0 < repeat < 1 << 31:
        known["trial_count"] = repeat
    return known


def _bound(value: Any) -> float | None:
    """A bound of an interval; asv writes infinite ones for few samples."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and abs(value) < math.inf else None


def _at(fields: FieldReader, where: str, column: Any, place: int) -> Any:
    if column is None:
        return None
    values = fields.sequence(column, where)
    return values[place] if place < len(values) else None


def _kind(name: str) -> tuple[str, str, Direction]:
    function = name.rpartition(".")[2]
    for prefix, metric, unit, direction in _KINDS:
        if function.startswith(prefix):
            return metric, unit, direction
    return "tracked", "count", "lower"


EXTENSION = TrackReader(
    name="asv",
    tool="asv",
    description="A results file of asv: each benchmark with each combination of its parameters.",
    recognises=recognises,
    read=read,
)
