"""vitest's benchmarks as JSON (``vitest bench --outputJson FILE``).

As packages/vitest/src/node/reporters/benchmark writes it: files, groups, benchmarks with
tinybench's numbers in milliseconds. Samples are there with ``benchmark.includeSamples`` in its
configuration; without them the mean is the one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.adapters.tinybench import sampled
from steelyard.harness.json_text import json_value


def recognises(text: str) -> bool:
    """Whether it has files with groups of benchmarks."""
    return all(f'"{key}"' in text for key in ("files", "groups", "benchmarks", "rme"))


def read(source: Source) -> tuple[Series, ...]:
    """The samples of each benchmark, named by its file, suites and itself."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    series = [
        Series(
            f"{group} > {fields.text(fields.required(row, 'name', where), f'{where}.name')}",
            ITERATION_TIME,
            "s",
            sampled(fields, row, where),
        )
        for group, row, where in _benchmarks(fields, document)
    ]
    if not series:
        raise DataError(f"{source.name} holds no benchmark.", field="files")
    return tuple(series)


def _benchmarks(
    fields: FieldReader, document: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each benchmark with the full name of its group and its place."""
    files = fields.sequence(fields.required(document, "files", ""), "files")
    for f, file in enumerate(files):
        groups = fields.mapping(file, f"files[{f}]").get("groups", [])
        for g, item in enumerate(fields.sequence(groups, f"files[{f}].groups")):
            place = f"files[{f}].groups[{g}]"
            group = fields.mapping(item, place)
            name = fields.text(fields.required(group, "fullName", place), f"{place}.fullName")
            rows = fields.sequence(group.get("benchmarks", []), f"{place}.benchmarks")
            for b, row in enumerate(rows):
                where = f"{place}.benchmarks[{b}]"
                yield name, fields.mapping(row, where), where


EXTENSION = Adapter(
    name="vitest",
    harness="vitest",
    description="Its JSON of benchmarks; a sample is an iteration, files without them give means.",
    recognises=recognises,
    read=read,
)
