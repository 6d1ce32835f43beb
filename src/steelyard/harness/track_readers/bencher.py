"""Bencher Metric Format: benchmarks by name, their measures by slug.

As in its reference (bencher.dev/docs/reference/bencher-metric-format): each measure has ``value``
and perhaps ``lower_value`` and ``upper_value``. The format has no revision and no units: those of
the measures that every project has are known by their slugs.
"""

from __future__ import annotations

import re
from typing import Any

from steelyard.core.field_reader import FieldReader
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source
from steelyard.harness.json_text import json_value
from steelyard.harness.track_reader import TrackFile, TrackReader
from steelyard.harness.track_units import Quantity

_LOOK = re.compile(
    r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:(?:low|upp)er_)?value"'
)
_COUNT = Quantity(1.0, "count", "lower")
_MEASURES = {
    "latency": Quantity(1e-9, "s", "lower"),
    "throughput": Quantity(1.0, "op/s", "higher"),
    "build-time": Quantity(1.0, "s", "lower"),
    "file-size": Quantity(1.0, "bytes", "lower"),
}


def recognises(text: str) -> bool:
    """Whether it begins with a benchmark that has a measure with a value."""
    return _LOOK.match(text) is not None


def read(source: Source) -> TrackFile:
    """A value for each measure of each benchmark."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    rows = [
        _row(fields, name, slug, f"{name}.{slug}", fields.mapping(measure, f"{name}.{slug}"))
        for name, measures in document.items()
        for slug, measure in fields.mapping(measures, name).items()
    ]
    return TrackFile(tuple(rows))


def _row(
    fields: FieldReader, benchmark: str, slug: str, where: str, measure: dict[str, Any]
) -> TrackRow:
    quantity = _MEASURES.get(slug, _COUNT)
    value = fields.finite(fields.required(measure, "value", where), f"{where}.value")
    bounds: list[float | None] = []
    for name in ("lower_value", "upper_value"):
        told = measure.get(name)
        bounds.append(
            None if told is None else fields.finite(told, f"{where}.{name}") * quantity.factor
        )
    low, high = bounds if None not in bounds else (None, None)
    return TrackRow(
        benchmark,
        slug,
        quantity.unit,
        value * quantity.factor,
        quantity.direction,
        low=low,
        high=high,
    )


EXTENSION = TrackReader(
    name="bencher",
    tool="Bencher",
    description="Bencher Metric Format: each measure of each benchmark, with its bounds.",
    recognises=recognises,
    read=read,
)
