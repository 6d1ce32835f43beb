"""One execution: what its iterations do, and from where on they can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from steelyard.analysis.states.change_points import change_penalty, change_points
from steelyard.analysis.states.course import state_begin
from steelyard.analysis.states.cycles import cycle_confidence, cycle_period
from steelyard.analysis.states.dependence import FEWEST_TESTED, Dependence, dependence
from steelyard.analysis.states.drift import drift_confidence, drifts
from steelyard.analysis.states.heuristics import HeuristicChoice, dacapo, georges
from steelyard.analysis.states.levels import (
    Differences,
    Level,
    differences,
    final_level,
    levels_of,
    relative_reach,
)
from steelyard.analysis.states.local_levels import LocalLevels, local_levels
from steelyard.analysis.states.outliers import ordinary_places
from steelyard.analysis.states.redraws import REDRAWS
from steelyard.analysis.states.segment_cost import Integers, SegmentCost
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.table import Floats
from steelyard.core.model import Caution, Direction

StateClass = Literal["flat", "warm-up", "slow-down", "cyclic", "drift", "no-steady-state"]

# Relative spread below which nothing is told apart, as a share of the tolerance.
_FLOOR_SHARE = 0.02
# Below this share of redraws the class is as good as guessed.
_LEAST_CONFIDENCE = 0.5
_MOST_STARTS = 8


@dataclass(frozen=True)
class Rules:
    """What is asked of each execution.

    Parameters
    ----------
    tolerance : float
        Relative difference between levels up to which they are equivalent.
    confidence : float
        Of the intervals that tell levels apart, and of the tests of independence.
    seed : int
        Of the redraws.
    execution_count : int
        How many executions are judged together.
    direction : str
        ``"higher"`` where more is better, so that a start-up has lower values.
    """

    tolerance: float = 0.05
    confidence: float = 0.95
    seed: int = 1
    execution_count: int = 1
    direction: Direction = "lower"

    @property
    def test_confidence(self) -> float:
        """Of the tests of each execution, such that those of all of them together find dependence
        in independent iterations with probability ``1 - confidence`` at most (Bonferroni)."""
        return 1 - (1 - self.confidence) / self.execution_count


@dataclass(frozen=True)
class ExecutionState:
    """What was found of one execution. Indices count iterations from 0.

    Parameters
    ----------
    label : str
    values : array
        All iterations, in order.
    state : str or None
        The class; None where there is no answer, and `refusal` says why.
    initialised : int or None
        The first iteration from which on the level holds within the tolerance to the end.
    independent : int or None
        The first from which on no dependence was found; None where there was some to the end.
    confidence : float or None
        Share of redraws, from the errors of what the class rests on, that give the same one.
    start_up_count : int
        Leading iterations that are worse than all of the second half.
    levels : tuple of Level
        The segments between change points.
    period : int or None
        Of a cycle.
    dependence : Dependence or None
        Of the iterations from `initialised` on.
    heuristics : tuple of HeuristicChoice
    refusal : Caution or None
    """

    label: str
    values: Floats
    state: StateClass | None = None
    initialised: int | None = None
    independent: int | None = None
    confidence: float | None = None
    start_up_count: int = 0
    levels: tuple[Level, ...] = ()
    period: int | None = None
    dependence: Dependence | None = None
    heuristics: tuple[HeuristicChoice, ...] = ()
    refusal: Caution | None = None


@dataclass(frozen=True)
class _Course:
    """What the levels come to: the class, the start of the final state, and how sure that is."""

    state: StateClass
    start: int | None
    confidence: float


def execution_state(label: str, values: Floats, rules: Rules) -> ExecutionState:
    """What the iterations of an execution do.

    Parameters
    ----------
    values : array
        Positive, finite, not all alike, enough: `refusal_of` finds nothing.

    Notes
    -----
    1. Outliers are set aside (`ordinary_places`), for change points and levels.
    2. PELT divides the rest where mean or spread change (`change_points`).
    3. Going back from the end, levels belong to the final state until one differs from the
       prevailing level of the last sixth by more than the tolerance; there the final state begins
       (`state_begin`). It is steady if it holds for a sixth of the execution and at least 10
       iterations (Traini et al., 2023).
    4. `flat`: it begins at 0. `slow-down`: an earlier level is better. `warm-up`: all earlier ones
       are worse. `cyclic`: a period brings back values beyond the tolerance. `drift`: a trend
       beyond the tolerance goes on. Else `no-steady-state`.
    5. No class where the mean of the final state is not known within the tolerance: a level that
       holds would then be a mere lack of evidence against it. Nor where the final state, without
       its excursions, varies in stretches too short for change points (`local_levels`).
    6. Independent: the first change point from which on no test finds dependence.
    """
    ordinary = ordinary_places(values)
    middle = abs(float(np.median(values)))
    cost = SegmentCost(values[ordinary], _FLOOR_SHARE * rules.tolerance * middle)
    changes = change_points(cost, change_penalty(cost.count))
    levels = levels_of(values[ordinary], ordinary, changes, len(values))
    final = final_level(levels, latest_start(len(values)))
    beside = differences(levels, final, rules.tolerance, rules.confidence)
    generator = np.random.default_rng(rules.seed)
    course = _course(beside, levels, rules.direction, generator)
    start_up = _start_up_count(levels, rules)
    settled = course.start if course.start is not None else start_up
    kept = values[ordinary[np.searchsorted(ordinary, settled) :]]
    running = values[ordinary[np.searchsorted(ordinary, start_up) :]]
    period = cycle_period(kept, rules.tolerance)
    if period is not None:
        sure = cycle_confidence(kept, period, rules.tolerance, generator)
        course = _Course("cyclic", course.start, sure)
    elif drifts(running, rules.tolerance):
        sure = drift_confidence(running, rules.tolerance, generator)
        course = _Course("drift", None, sure)
    found = ExecutionState(
        label=label,
        values=values,
        start_up_count=start_up if course.start is None else course.start,
        levels=levels,
        heuristics=(dacapo(values), georges(values)),
    )
    reach = relative_reach(kept, rules.confidence)
    if period is None and course.start is not None and reach > rules.tolerance:
        return replace(found, refusal=_too_noisy(reach, rules))
    if course.confidence < _LEAST_CONFIDENCE:
        return replace(found, refusal=_undecided(course))
    if period is None and course.start is not None:
        undisturbed = _undisturbed(ordinary, course.start, levels, beside)
        local = local_levels(values[undisturbed], rules.tolerance, generator)
        if local is not None:
            return replace(found, refusal=_unsettled(local, rules))
    independent, tests = _independence(values, course.start, levels, rules)
    return replace(
        found,
        state=course.state,
        initialised=course.start,
        independent=independent,
        confidence=course.confidence,
        period=period,
        dependence=tests,
    )


def _too_noisy(reach: float, rules: Rules) -> Caution:
    return Caution(
        "too-noisy",
        f"its values scatter so much that the mean of the last state is known to ± {reach:.0%} "
        f"only, and levels within {rules.tolerance:.3g} of each other are to count as the same. "
        "More iterations, or a quieter machine, would tell; or a larger --option tolerance.",
    )


def _undecided(course: _Course) -> Caution:
    return Caution(
        "undecided",
        f"only {course.confidence:.0%} of redraws, from the errors of its levels, give the same "
        f"class ({course.state}); more iterations would tell.",
    )


def _unsettled(local: LocalLevels, rules: Rules) -> Caution:
    return Caution(
        "undecided",
        f"a quarter of its stretches of {local.length} iterations lie {local.distance:.1%} or more "
        f"from the middle of its last state, where the tolerance is {rules.tolerance:.3g}; noise "
        "alone does not explain this. It seems to go to and fro between levels, each too short to "
        "be found by itself.",
    )


def _undisturbed(
    ordinary: Integers, start: int, levels: Sequence[Level], beside: Differences
) -> Integers:
    """The iterations of the final state that are not in levels which surely differ from it."""
    begins = np.array([level.start for level in levels])
    at = np.searchsorted(begins, ordinary, side="right") - 1
    marks = beside.marks(beside.log_ratios)
    return ordinary[(ordinary >= start) & (np.abs(marks[at]) < 2)]


def _course(
    beside: Differences,
    levels: Sequence[Level],
    direction: Direction,
    generator: np.random.Generator,
) -> _Course:
    """The class by the levels, and the share of redraws of them that come to the same."""
    better = 1 if direction == "lower" else -1
    marks = better * beside.marks(beside.log_ratios)
    state, start = _state_of(marks.tolist(), levels)
    noise = generator.standard_normal((REDRAWS, len(levels))) * beside.errors
    drawn = better * beside.marks(beside.log_ratios + noise)
    redrawn, counts = np.unique(drawn, axis=0, return_counts=True)
    same = sum(
        int(count)
        for marks, count in zip(redrawn.tolist(), counts, strict=True)
        if _state_of(marks, levels)[0] == state
    )
    return _Course(state, start, same / REDRAWS)


def _state_of(marks: Sequence[int], levels: Sequence[Level]) -> tuple[StateClass, int | None]:
    """The class by how the levels differ from the final one (below 0: better), and where its state
    begins."""
    begin = state_begin(marks, levels)
    if begin is None:
        return "no-steady-state", None
    before = [mark for mark, level in zip(marks, levels, strict=True) if level.stop <= begin]
    if not before:
        return "flat", 0
    return "slow-down" if min(before) < -1 else "warm-up", begin


def _start_up_count(levels: Sequence[Level], rules: Rules) -> int:
    """How many iterations lie in leading levels that are worse than all of the second half."""
    better = 1 if rules.direction == "lower" else -1
    half = levels[-1].stop / 2
    worst = max(better * level.mean for level in levels if level.stop > half)
    count = 0
    for level in levels:
        if better * level.mean <= worst + rules.tolerance * abs(worst):
            break
        count = level.stop
    return count


def _independence(
    values: Floats, initialised: int | None, levels: Sequence[Level], rules: Rules
) -> tuple[int | None, Dependence | None]:
    """The first iteration from which on no dependence is found, and the tests of the initialised
    part."""
    if initialised is None:
        return None, None
    latest = min(latest_start(len(values)), len(values) - FEWEST_TESTED)
    starts = [level.start for level in levels if initialised <= level.start <= latest]
    tests: Dependence | None = None
    for start in starts[:: -(-len(starts) // _MOST_STARTS) or 1]:
        found = dependence(values[start:])
        tests = tests or found
        if not found.found(rules.test_confidence):
            return start, tests
    return None, tests
