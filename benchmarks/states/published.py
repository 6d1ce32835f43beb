"""Agreement with the published classification of real executions."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.states.judged import (
    CHOOSERS,
    ERROR_HEADER,
    NAMES,
    Floats,
    Judged,
    error_row,
    judged,
    percent,
)
from steelyard.analysis.states.execution import Rules
from steelyard.analysis.states.steady_part import latest_start


@dataclass(frozen=True)
class Benchmark:
    """The executions of a benchmark, and what was published of it."""

    name: str
    published: str
    executions: tuple[Judged, ...]
    counts: tuple[int, ...]


def published_tables(data: Path, names: Collection[str] = ()) -> Iterator[str]:
    """The tables, as lines of Markdown, of the benchmarks called `names`, or of all."""
    known = [one for one in _classification(data) if not names or one["id"] in names]
    benchmarks = [_benchmark(data, one) for one in known]
    executions = [case for one in benchmarks for case in one.executions]
    yield (
        f"{len(benchmarks)} benchmarks, {len(executions)} executions of real JVM benchmarks, "
        "beside the published classification:"
    )
    yield ""
    yield (
        "| who judges | executions: steady or not as published | of the steady | of the others "
        "| benchmarks as published |"
    )
    yield "|---|---|---|---|---|"
    steady = np.array([case.start is not None for case in executions])
    for who in CHOOSERS:
        agreed = np.array([_steady(case, who) == (case.start is not None) for case in executions])
        as_published = [_verdict(one, who) == one.published for one in benchmarks]
        yield (
            f"| {NAMES[who]} | {percent(float(agreed.mean()))} | "
            f"{percent(float(agreed[steady].mean()))} | {percent(float(agreed[~steady].mean()))} | "
            f"{percent(float(np.mean(as_published)))} |"
        )
    yield ""
    yield from _confusion(executions)
    yield ""
    yield "Choices in the executions that were published as steady:"
    yield ""
    yield ERROR_HEADER
    for who in CHOOSERS:
        yield f"| {NAMES[who]} | {error_row(executions, who)} |"


def _classification(data: Path) -> list[dict[str, object]]:
    return json.loads((data / "classification.json").read_text("utf-8"))


def _benchmark(data: Path, published: dict[str, object]) -> Benchmark:
    name = str(published["id"])
    starts = published["steady_state_starts"]
    assert isinstance(starts, list)
    columns = _series(data / "series" / f"{name}.csv.gz").T
    executions = tuple(
        judged(np.ascontiguousarray(values), None if start < 0 else start, Rules())
        for values, start in zip(columns, starts, strict=True)
    )
    return Benchmark(
        name, str(published["classification"]), executions, tuple(len(v) for v in columns)
    )


def _series(path: Path) -> Floats:
    with gzip.open(path, "rt", encoding="ascii") as file:
        rows = [line.strip().split(",") for line in file]
    try:
        float(rows[0][0])
    except ValueError:
        rows = rows[1:]
    return np.array(rows, dtype=np.float64)


def _steady(case: Judged, who: str) -> bool:
    first = case.choices[who].first
    return first is not None and first <= latest_start(len(case.found.values))


def _verdict(one: Benchmark, who: str) -> str:
    """Of the executions that have an answer, as the proposal tells it."""
    steady = [_steady(case, who) for case in one.executions if case.choices[who].answered]
    if all(steady):
        return "steady state"
    return "inconsistent" if any(steady) else "no steady state"


def _confusion(executions: Sequence[Judged]) -> Iterator[str]:
    columns = ("steady", "not steady", "no answer")
    yield f"| published | {' | '.join(columns)} |"
    yield "|---|---|---|---|"
    for steady, name in ((True, "steady"), (False, "not steady")):
        found = Counter(
            "no answer"
            if not case.choices["proposal"].answered
            else "steady"
            if _steady(case, "proposal")
            else "not steady"
            for case in executions
            if (case.start is not None) == steady
        )
        yield f"| {name} | {' | '.join(str(found[column]) for column in columns)} |"
