"""Agreement with the truth of executions that were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from benchmarks.states.judged import (
    CHOOSERS,
    ERROR_HEADER,
    NAMES,
    Judged,
    error_row,
    judged,
    percent,
)
from benchmarks.states.populations import LENGTHS, NOISES, STATES, SWITCHING, Made, executions
from steelyard.analysis.states.execution import Rules, execution_state

_SEED = 20130620
_BINS = (0.5, 0.7, 0.9, 0.99, 1.0001)

Cases = Sequence[tuple[Made, Judged]]


def synthetic_tables(each: int) -> Iterator[str]:
    """The tables, as lines of Markdown."""
    cases = [(one, judged(one.values, one.start, Rules())) for one in executions(each, _SEED)]
    yield (
        f"{len(cases)} synthetic executions: each class with each noise, coefficients of variation "
        f"of 0.5 % and 3 %, {', '.join(map(str, LENGTHS))} iterations; the class found (columns) "
        "for the class made (rows):"
    )
    yield ""
    yield from _confusion(cases)
    yield ""
    yield from _by_noise(cases)
    yield ""
    yield from _reliability(cases)
    yield ""
    steady = [case for made, case in cases if made.state in ("flat", "warm-up", "slow-down")]
    yield "Choices in those that are steady and not cyclic:"
    yield ""
    yield ERROR_HEADER
    for who in CHOOSERS:
        yield f"| {NAMES[who]} | {error_row(steady, who)} |"
    yield ""
    yield from _switching(5 * each)


def _switching(each: int) -> Iterator[str]:
    yield f"Two levels in turn, in runs of random lengths, normal noise; {each} executions a row:"
    yield ""
    columns = ("flat", "warm-up or slow-down", "cyclic", "drift", "no-steady-state", "no answer")
    yield f"| iterations | of a run | jump | noise | {' | '.join(columns)} |"
    yield "|---" * (4 + len(columns)) + "|"
    generator = np.random.default_rng(_SEED)
    for kind in SWITCHING:
        found = [execution_state("", kind.made(generator), Rules()).state for _ in range(each)]
        shares = [
            sum((state or "no answer") in column.split(" or ") for state in found) / each
            for column in columns
        ]
        yield (
            f"| {kind.count} | {kind.runs[0]} to {kind.runs[1]} | {percent(kind.jump)} "
            f"| {percent(kind.spread)} | {' | '.join(map(percent, shares))} |"
        )


def _confusion(cases: Cases) -> Iterator[str]:
    columns = [*STATES, None]
    yield f"| made | {' | '.join(name or 'no answer' for name in columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for state in STATES:
        found = Counter(case.found.state for made, case in cases if made.state == state)
        total = found.total()
        yield f"| {state} | {' | '.join(percent(found[c] / total) for c in columns)} |"


def _by_noise(cases: Cases) -> Iterator[str]:
    yield "| noise | class right | steady or not right | flat called not flat |"
    yield "|---|---|---|---|"
    for noise in NOISES:
        mine = [(made, case) for made, case in cases if made.noise == noise]
        flat = [case for made, case in mine if made.state == "flat"]
        right = fmean(made.state == case.found.state for made, case in mine)
        steady = fmean(
            (made.start is None) == (case.found.initialised is None) for made, case in mine
        )
        false = fmean(case.found.state != "flat" for case in flat)
        yield f"| {noise} | {percent(right)} | {percent(steady)} | {percent(false)} |"


def _reliability(cases: Cases) -> Iterator[str]:
    yield "| stated confidence | executions | class right |"
    yield "|---|---|---|"
    for low, high in pairwise(_BINS):
        inside = [
            made.state == case.found.state
            for made, case in cases
            if case.found.confidence is not None and low <= case.found.confidence < high
        ]
        if inside:
            shown = f"{percent(low)} to {percent(min(1.0, high))}"
            yield f"| {shown} | {len(inside)} | {percent(float(np.mean(inside)))} |"
