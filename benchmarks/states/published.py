"""Agreement with the published classification of real executions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.states.bounds import Bound, lines, redrawn
from benchmarks.states.judged import (
    CHOOSERS,
    ERROR_HEADER,
    NAMES,
    Judged,
    error_row,
    judged,
    mean_errors,
    percent,
)
from benchmarks.states.published_states import Labelled
from steelyard.analysis.states.execution import Rules
from steelyard.analysis.states.steady_part import latest_start

BANDS = ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.0001))
_STEADY = ("flat", "warm-up", "slow-down", "cyclic")
# Issued for executions that nobody looked at: balanced accuracy where answered, refusals, how far
# a stated confidence may be off, and how often a mean of the steady part by more than 5 %.
_ACCURACY, _REFUSED, _CONFIDENCE, _MEANS = 0.80, 0.10, 0.05, 0.01
# Fewer executions do not show how often such a confidence is right.
_FEWEST_IN_BAND = 20


@dataclass(frozen=True)
class Benchmark:
    """The executions of a benchmark, and what was published of it."""

    name: str
    published: str
    executions: tuple[Judged, ...]


Benchmarks = Sequence[Benchmark]


def benchmarks_of(known: Iterable[Labelled]) -> list[Benchmark]:
    """Judge all executions."""
    return [
        Benchmark(
            one.name,
            one.published,
            tuple(
                judged(values, start, Rules())
                for values, start in zip(one.executions, one.starts, strict=True)
            ),
        )
        for one in known
    ]


def published_tables(benchmarks: Benchmarks, bounds: Sequence[Bound]) -> Iterator[str]:
    """The tables, as lines of Markdown."""
    executions = _executions(benchmarks)
    yield (
        f"{len(benchmarks)} benchmarks, {len(executions)} executions of real JVM benchmarks, "
        "beside the published classification:"
    )
    yield ""
    yield from lines(bounds)
    yield ""
    yield (
        "| who judges | executions: steady or not as published | of the steady | of the others "
        "| benchmarks as published |"
    )
    yield "|---|---|---|---|---|"
    steady = np.array([case.start is not None for case in executions])
    for who in CHOOSERS:
        agreed = np.array(
            [_chose_steady(case, who) == (case.start is not None) for case in executions]
        )
        as_published = [_verdict(one, who) == one.published for one in benchmarks]
        yield (
            f"| {NAMES[who]} | {percent(float(agreed.mean()))} | "
            f"{percent(float(agreed[steady].mean()))} | {percent(float(agreed[~steady].mean()))} | "
            f"{percent(float(np.mean(as_published)))} |"
        )
    yield ""
    yield from _confusion(executions)
    yield ""
    yield from _reliability(executions)
    yield ""
    yield "Choices in the executions that were published as steady:"
    yield ""
    yield ERROR_HEADER
    for who in CHOOSERS:
        yield f"| {NAMES[who]} | {error_row(executions, who)} |"


def published_bounds(benchmarks: Benchmarks) -> list[Bound]:
    """What has to hold, each with an interval over benchmarks."""

    def bound(what: str, measure, **limit: float) -> Bound:
        return Bound(what, measure(benchmarks), redrawn(benchmarks, measure), **limit)

    found = [
        bound("balanced accuracy where answered", balanced_accuracy, least=_ACCURACY),
        bound("refused", refused_share, most=_REFUSED),
        bound("mean of the steady part off by more than 5 %", _far_means, most=_MEANS),
    ]
    for band in BANDS:
        if len(_in_band(benchmarks, band)) >= _FEWEST_IN_BAND:
            low, high = band
            what = f"stated {percent(low)} to {percent(min(1.0, high))}: stated less right, size"
            signed = redrawn(benchmarks, lambda some, band=band: _excess(some, band))
            size = abs(_excess(benchmarks, band))
            nearest = 0.0 if signed[0] <= 0 <= signed[1] else min(map(abs, signed))
            interval = (nearest, max(map(abs, signed)))
            found.append(Bound(what, size, interval, most=_CONFIDENCE))
    return found


def is_steady(case: Judged) -> bool:
    """Whether the class says that there is a steady state."""
    return case.found.state in _STEADY


def _executions(benchmarks: Benchmarks) -> list[Judged]:
    return [case for one in benchmarks for case in one.executions]


def _answered(benchmarks: Benchmarks) -> list[Judged]:
    return [case for case in _executions(benchmarks) if case.found.state is not None]


def balanced_accuracy(benchmarks: Benchmarks) -> float:
    """The mean of the shares of steady and of other executions that are called so."""
    answered = _answered(benchmarks)
    steady = [is_steady(case) for case in answered if case.start is not None]
    others = [not is_steady(case) for case in answered if case.start is None]
    return float(np.mean(steady) + np.mean(others)) / 2 if steady and others else float("nan")


def refused_share(benchmarks: Benchmarks) -> float:
    """The share of executions without an answer."""
    return 1 - len(_answered(benchmarks)) / len(_executions(benchmarks))


def _far_means(benchmarks: Benchmarks) -> float:
    errors = mean_errors(_answered(benchmarks), "proposal")
    return float((errors > 0.05).mean()) if len(errors) else float("nan")


def _in_band(benchmarks: Benchmarks, band: tuple[float, float]) -> list[Judged]:
    low, high = band
    return [case for case in _answered(benchmarks) if low <= (case.found.confidence or 0) < high]


def _excess(benchmarks: Benchmarks, band: tuple[float, float]) -> float:
    """Stated confidence less the share that is right."""
    inside = _in_band(benchmarks, band)
    if not inside:
        return float("nan")
    stated = float(np.mean([case.found.confidence or 0 for case in inside]))
    return stated - float(np.mean([is_steady(case) == (case.start is not None) for case in inside]))


def _reliability(executions: Sequence[Judged]) -> Iterator[str]:
    yield "| stated confidence | executions | stated, mean | steady or not as published |"
    yield "|---|---|---|---|"
    for low, high in BANDS:
        inside = [
            case
            for case in executions
            if case.found.state is not None and low <= (case.found.confidence or 0) < high
        ]
        if inside:
            stated = float(np.mean([case.found.confidence or 0 for case in inside]))
            right = float(np.mean([is_steady(c) == (c.start is not None) for c in inside]))
            shown = f"{percent(low)} to {percent(min(1.0, high))}"
            yield f"| {shown} | {len(inside)} | {percent(stated)} | {percent(right)} |"


def _chose_steady(case: Judged, who: str) -> bool:
    first = case.choices[who].first
    return first is not None and first <= latest_start(len(case.found.values))


def _verdict(one: Benchmark, who: str) -> str:
    """Of the executions that have an answer, as the proposal tells it."""
    steady = [_chose_steady(case, who) for case in one.executions if case.choices[who].answered]
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
            if case.found.state is None
            else "steady"
            if is_steady(case)
            else "not steady"
            for case in executions
            if (case.start is not None) == steady
        )
        yield f"| {name} | {' | '.join(str(found[column]) for column in columns)} |"
