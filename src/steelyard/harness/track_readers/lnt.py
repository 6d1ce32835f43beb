"""Report files of LNT, in both of their versions.

As in LNT's "Importing Data" (llvm.org/docs/lnt/importing_data.html). Version 2 has an object for
each test with its metrics by name; in version 1 the metric is the end of a test's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import fsum
from typing import Any, cast

from steelyard.core.field_reader import FieldReader
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source
from steelyard.harness.json_text import json_value
from steelyard.harness.track_reader import TrackFile, TrackReader
from steelyard.harness.track_units import Quantity, unix_time_of

_SECONDS = Quantity(1.0, "s", "lower")
_BYTES = Quantity(1.0, "bytes", "lower")
_COUNT = Quantity(1.0, "count", "lower")
# The metrics of LNT's test suites "nts" and "compile", and how version 1 ends their names.
_METRICS = {
    "execution_time": _SECONDS,
    "compile_time": _SECONDS,
    "user": _SECONDS,
    "sys": _SECONDS,
    "wall": _SECONDS,
    "code_size": _BYTES,
    "size": _BYTES,
    "mem_bytes": _BYTES,
    "mem": _BYTES,
    "score": Quantity(1.0, "count", "higher"),
}
_OLD_NAMES = {"exec": "execution_time", "compile": "compile_time", "mem": "mem_bytes"}
_REVISIONS = (
    *("llvm_project_revision", "git_sha", "commit", "revision", "order", "run_order"),
    *("inferred_run_order", "cc_src_revision"),
)
_NO_METRICS = ("status", "hash", "name", "id")


def recognises(text: str) -> bool:
    """Whether it has the fields of a report's head."""
    new = '"format_version"' in text and '"machine"' in text and '"run"' in text
    old = '"Machine"' in text and '"Run"' in text and '"Tests"' in text
    return new or old


def read(source: Source) -> TrackFile:
    """A value for each metric of each test; samples of one run are its trials."""
    fields = FieldReader(source.name)
    document = fields.mapping(json_value(source), "the top level")
    return TrackFile(
        tuple(_old(fields, document) if "Tests" in document else _new(fields, document))
    )


def _new(fields: FieldReader, document: dict[str, Any]) -> Iterator[TrackRow]:
    machine = fields.mapping(fields.required(document, "machine", ""), "machine")
    run = fields.mapping(fields.required(document, "run", ""), "run")
    host = machine.get("name", machine.get("Name", ""))
    about = _about(fields, host, run, run.get("start_time"))
    tests = fields.sequence(fields.required(document, "tests", ""), "tests")
    for index, item in enumerate(tests):
        where = f"tests[{index}]"
        test = fields.mapping(item, where)
        name = fields.text(test.get("name", test.get("Name")), f"{where}.name")
        for metric, samples in test.items():
            if not metric.lower().endswith(_NO_METRICS) and _is_numeric(samples):
                yield _row(fields, about, name, metric, samples, f"{where}.{metric}")


def _old(fields: FieldReader, document: dict[str, Any]) -> Iterator[TrackRow]:
    machine = fields.mapping(fields.required(document, "Machine", ""), "Machine")
    run = fields.mapping(fields.required(document, "Run", ""), "Run")
    info = fields.mapping(run.get("Info", {}), "Run.Info")
    about = _about(fields, machine.get("Name", ""), info, run.get("Start Time"))
    tests = fields.sequence(fields.required(document, "Tests", ""), "Tests")
    for index, item in enumerate(tests):
        where = f"Tests[{index}]"
        test = fields.mapping(item, where)
        whole = fields.text(fields.required(test, "Name", where), f"{where}.Name")
        name, _, metric = whole.rpartition(".")
        if metric in _NO_METRICS or not name:
            continue
        samples = fields.required(test, "Data", where)
        yield _row(fields, about, name, _OLD_NAMES.get(metric, metric), samples, f"{where}.Data")


def _about(fields: FieldReader, host: Any, run: dict[str, Any], started: Any) -> TrackRow:
    revision = next((run[name] for name in _REVISIONS if run.get(name) not in (None, "")), None)
    return TrackRow(
        benchmark="",
        metric="",
        unit="",
        value=0.0,
        revision=None if revision is None else str(revision),
        host=fields.text(host, "the machine's name"),
        measured_unix_s=None if started is None else unix_time_of(str(started)),
    )


def _is_numeric(samples: Any) -> bool:
    """Whether a field is a metric: a number, or a list of some."""
    values = _listed(samples)
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def _listed(samples: Any) -> list[Any]:
    return cast("list[Any]", samples) if isinstance(samples, list) else [samples]


def _row(
    fields: FieldReader, about: TrackRow, name: str, metric: str, samples: Any, where: str
) -> TrackRow:
    numbers = [fields.finite(value, where) for value in _listed(samples)]
    if not numbers:
        raise fields.error(where, "a list with a number", samples)
    quantity = _METRICS.get(metric, _COUNT)
    return replace(
        about,
        benchmark=name,
        metric=metric,
        unit=quantity.unit,
        direction=quantity.direction,
        value=fsum(numbers) / len(numbers),
        observations=tuple(numbers),
        trial_count=len(numbers),
    )


EXTENSION = TrackReader(
    name="lnt",
    tool="LNT",
    description="A report file of LNT: each metric of each test, with its samples.",
    recognises=recognises,
    read=read,
)
