"""What github-action-benchmark keeps: its ``data.js``, the same as JSON, or one list of results.

As in src/write.ts and src/extract.ts of benchmark-action/github-action-benchmark. Ranges mean
something else for each tool that it reads, and are no intervals of the value: left out, but for
the ones that Steelyard itself exports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source
from steelyard.harness.json_text import json_value
from steelyard.harness.track_reader import TrackFile, TrackReader
from steelyard.harness.track_units import quantity_of, unix_time_of

_SCRIPT = re.compile(r"\s*window\.BENCHMARK_DATA\s*=\s*")
_LIST = re.compile(r'\s*\[\s*\{\s*"(?:name|unit|value)"\s*:')
_OWN_EXTRA = re.compile(r"(?P<metric>\S+), (?P<percent>[\d.]+)% interval by \S+")
_OWN_RANGE = re.compile(r"± ([\d.e+-]+)")
# src/write.ts, biggerIsBetter.
_BIGGER = {"benchmarkjs", "pytest", "customBiggerIsBetter"}


def recognises(text: str) -> bool:
    """Whether it is the script, its JSON, or a list of results with units."""
    if _SCRIPT.match(text) is not None:
        return True
    if _LIST.match(text) is not None:
        return '"unit"' in text and '"value"' in text
    return all(field in text for field in ('"entries"', '"benches"', '"commit"'))


def read(source: Source) -> TrackFile:
    """A value for each result of each run."""
    fields = FieldReader(source.name)
    script = _SCRIPT.match(source.text)
    text = source.text[script.end() :] if script is not None else source.text
    document = json_value(Source(text, source.name))
    if isinstance(document, list):
        benches = fields.sequence(document, "the top level")
        return TrackFile(tuple(_results(fields, benches, "the top level", "", {})))
    entries = fields.mapping(document, "the top level").get("entries")
    rows: list[TrackRow] = []
    for suite, runs in fields.mapping(entries, "entries").items():
        for index, item in enumerate(fields.sequence(runs, f"entries.{suite}")):
            where = f"entries.{suite}[{index}]"
            run = fields.mapping(item, where)
            benches = fields.sequence(fields.required(run, "benches", where), f"{where}.benches")
            rows += _results(fields, benches, f"{where}.benches", suite, run)
    return TrackFile(tuple(rows))


def _results(
    fields: FieldReader, benches: list[Any], where: str, suite: str, run: dict[str, Any]
) -> Iterator[TrackRow]:
    commit = fields.mapping(run.get("commit", {}), f"{where}.commit")
    revision = commit.get("id")
    stamp = commit.get("timestamp")
    date = run.get("date")
    better: Direction = "higher" if run.get("tool") in _BIGGER else "lower"
    for index, item in enumerate(benches):
        place = f"{where}[{index}]"
        bench = fields.mapping(item, place)
        name = fields.text(fields.required(bench, "name", place), f"{place}.name")
        unit = fields.text(bench.get("unit", ""), f"{place}.unit")
        value = fields.finite(fields.required(bench, "value", place), f"{place}.value")
        quantity = quantity_of(unit)
        metric, half_width, confidence = _own(bench)
        reach = None if half_width is None else half_width * quantity.factor
        value *= quantity.factor
        yield TrackRow(
            f"{suite}/{name}" if suite and suite != "Benchmark" else name,
            metric or _metric(quantity.unit),
            quantity.unit,
            value,
            quantity.direction if not run.get("tool") else better,
            revision=None if revision is None else fields.text(revision, f"{where}.commit.id"),
            low=None if reach is None else value - reach,
            high=None if reach is None else value + reach,
            confidence=confidence,
            measured_unix_s=None if date is None else unix_time_of(str(date)),
            committed_unix_s=None if stamp is None else unix_time_of(str(stamp)),
        )


def _metric(unit: str) -> str:
    """What a unit alone tells of the metric."""
    return {"s": "time", "bytes": "bytes"}.get(unit, "value")


def _own(bench: dict[str, Any]) -> tuple[str | None, float | None, float | None]:
    """The metric, half-width and confidence of a result that Steelyard exported."""
    extra = _OWN_EXTRA.fullmatch(str(bench.get("extra", "")))
    told = _OWN_RANGE.fullmatch(str(bench.get("range", "")))
    if extra is None or told is None:
        return None, None, None
    return extra["metric"], float(told[1]), float(extra["percent"]) / 100


EXTENSION = TrackReader(
    name="github-action-benchmark",
    tool="github-action-benchmark",
    description="Its data.js or JSON with all runs, or one list of results with units.",
    recognises=recognises,
    read=read,
)
