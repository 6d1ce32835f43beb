"""Agreement with the truth of executions that were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from benchmarks.states.bounds import Bound, share_bound
from benchmarks.states.judged import (
    CHOOSERS,
    ERROR_HEADER,
    NAMES,
    Judged,
    error_row,
    judged,
    percent,
)
from benchmarks.states.made_states import LENGTHS, NOISES, STATES, SWITCHING, Made, executions
from steelyard.analysis.states.execution import Rules, execution_state

_SEED = 20130620
_BINS = (0.5, 0.7, 0.9, 0.99, 1.0001)
_FEWEST_IN_BIN = 20
# Issued for made executions: how often the class is right, of those that end in a short new level
# too; how often something that is not steady passes for it; what a confidence may be too high.
_RIGHT, _RIGHT_UNSTEADY, _WRONG_STEADY, _OFF = 0.95, 0.85, 0.10, 0.05
# Of two levels in turn that differ by more than twice the tolerance.
_CALLED_STEADY = 0.05
_PLAIN_JUMP, _SHORTEST_RUN = 0.15, 5

Cases = Sequence[tuple[Made, Judged]]


def synthetic_cases(each: int) -> list[tuple[Made, Judged]]:
    """So many executions of each class, noise, spread and length, and what was found of them."""
    return [(one, judged(one.values, one.start, Rules())) for one in executions(each, _SEED)]


def synthetic_bounds(cases: Cases) -> list[Bound]:
    """What has to hold of made executions."""
    found: list[Bound] = []
    for state in STATES:
        mine = [case.found.state for made, case in cases if made.state == state]
        right = sum(one == state for one in mine)
        least = _RIGHT_UNSTEADY if state == "no-steady-state" else _RIGHT
        found.append(share_bound(f"`{state}` found where made", right, len(mine), least=least))
    unsteady = [case for made, case in cases if made.start is None]
    steady = sum(case.found.initialised is not None for case in unsteady)
    what = "called steady where made not steady"
    found.append(share_bound(what, steady, len(unsteady), most=_WRONG_STEADY))
    for low, high in pairwise(_BINS):
        inside = [
            (case.found.confidence or 0.0, made.state == case.found.state)
            for made, case in cases
            if case.found.confidence is not None and low <= case.found.confidence < high
        ]
        stated = fmean(one for one, _ in inside) if inside else 0.0
        right = sum(is_right for _, is_right in inside)
        # Made executions are plainer than real ones, on which confidence is calibrated: it may be
        # too low here, and not too high.
        if len(inside) >= _FEWEST_IN_BIN:
            what = f"class right where {percent(low)} to {percent(min(1.0, high))} were stated"
            found.append(share_bound(what, right, len(inside), least=stated - _OFF))
    return found


def synthetic_tables(cases: Cases, each: int) -> Iterator[str]:
    """The tables, as lines of Markdown."""
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


def switching_tables(each: int) -> tuple[list[str], list[Bound]]:
    """The table of two levels in turn, as lines of Markdown, and what has to hold."""
    bounds: list[Bound] = []
    lines = [
        f"Two levels in turn, in runs of random lengths, normal noise; {each} executions a row:",
        "",
    ]
    columns = ("flat", "warm-up or slow-down", "cyclic", "drift", "no-steady-state", "no answer")
    lines.append(f"| iterations | of a run | jump | noise | {' | '.join(columns)} |")
    lines.append("|---" * (4 + len(columns)) + "|")
    generator = np.random.default_rng(_SEED)
    for kind in SWITCHING:
        found = [execution_state("", kind.made(generator), Rules()).state for _ in range(each)]
        shares = [
            sum((state or "no answer") in column.split(" or ") for state in found) / each
            for column in columns
        ]
        name = f"{kind.count} | {kind.runs[0]} to {kind.runs[1]} | {percent(kind.jump)}"
        cells = " | ".join(map(percent, shares))
        lines.append(f"| {name} | {percent(kind.spread)} | {cells} |")
        if kind.jump >= _PLAIN_JUMP and kind.runs[0] >= _SHORTEST_RUN:
            steady = round(each * (shares[0] + shares[1]))
            what = f"two levels, {kind.count} iterations, runs of {kind.runs[0]} to {kind.runs[1]}"
            bounds.append(share_bound(f"{what}: called steady", steady, each, most=_CALLED_STEADY))
    return lines, bounds


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
