"""One execution as the analysis and the two rules judge it, beside what is held true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.states.execution import ExecutionState, Rules, execution_state

Floats = NDArray[np.float64]
CHOOSERS = ("proposal", "dacapo", "georges")


@dataclass(frozen=True)
class Choice:
    """From which iteration on someone would measure (None: never steady, or no answer), and the
    mean that comes of it."""

    first: int | None
    mean: float | None
    answered: bool = True


@dataclass(frozen=True)
class Judged:
    """The choices for one execution by the name of who chose, and the truth."""

    found: ExecutionState
    choices: dict[str, Choice]
    start: int | None
    mean: float | None


def judged(values: Floats, start: int | None, rules: Rules) -> Judged:
    """Judge an execution that is steady from `start` on, or never (None)."""
    found = execution_state("", values, rules)
    first = found.initialised
    mean = None if first is None else float(values[first:].mean())
    choices = {"proposal": Choice(first, mean, found.state is not None)}
    choices |= {one.name: Choice(one.first, one.mean) for one in found.heuristics}
    truth = None if start is None else float(values[start:].mean())
    return Judged(found, choices, start, truth)


def start_errors(all_judged: Sequence[Judged], who: str) -> Floats:
    """How many iterations choices lie from the true start, where both are steady."""
    pairs = [(j.choices[who].first, j.start) for j in all_judged]
    return np.array([a - b for a, b in pairs if a is not None and b is not None], dtype=float)


def mean_errors(all_judged: Sequence[Judged], who: str) -> Floats:
    """The sizes of the relative errors of the means, where the truth is steady and there is one."""
    pairs = [(j.choices[who].mean, j.mean) for j in all_judged]
    return np.array([abs(a / b - 1) for a, b in pairs if a is not None and b is not None])


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def error_row(all_judged: Sequence[Judged], who: str) -> str:
    """Errors of starts and means of one chooser, as the cells of a table."""
    starts, means = np.abs(start_errors(all_judged, who)), mean_errors(all_judged, who)
    return (
        f"{np.median(starts):.0f} | {percent(float((starts <= 50).mean()))} | "
        f"{percent(float(np.median(means)))} | {percent(float(means.mean()))} | "
        f"{percent(float(np.quantile(means, 0.9)))} | {percent(float((means > 0.05).mean()))}"
    )


ERROR_HEADER = (
    "| who chooses | start off by (median) | within 50 | mean off by (median) | mean "
    "| 90th percentile | by more than 5 % |\n|---|---|---|---|---|---|---|"
)
NAMES = {"proposal": "Steelyard", "dacapo": "DaCapo's harness", "georges": "Georges et al."}
