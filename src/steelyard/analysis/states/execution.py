"""One execution: what its iterations do, and from where on they can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from steelyard.analysis.states.change_points import change_penalty, change_points
from steelyard.analysis.states.course import state_begin
from steelyard.analysis.states.cycles import cycle_period
from steelyard.analysis.states.dependence import (
    FEWEST_TESTED,
    Dependence,
    centred_ranks,
    dependence,
)
from steelyard.analysis.states.heuristics import HeuristicChoice, dacapo, georges
from steelyard.analysis.states.levels import (
    Differences,
    Level,
    differences,
    final_level,
    levels_of,
    relative_reach,
)
from steelyard.analysis.states.outliers import ordinary_places
from steelyard.analysis.states.segment_cost import SegmentCost
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.table import Floats
from steelyard.core.model import Caution

StateClass = Literal["flat", "warm-up", "slow-down", "cyclic", "drift", "no-steady-state"]

# Relative spread below which nothing is told apart, as a share of the tolerance.
_FLOOR_SHARE = 0.02
_REDRAWS = 400
# Below this share of redraws the class is as good as guessed.
_LEAST_CONFIDENCE = 0.5
_MOST_STARTS = 8
# A trend that explains so much of the ranks (Spearman) is one that the eye sees.
_PLAIN_TREND = 0.5


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
    """

    tolerance: float = 0.05
    confidence: float = 0.95
    seed: int = 1
    execution_count: int = 1

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
        Share of redraws of the levels, from their errors, that give the same class.
    start_up_count : int
        Leading iterations that are slower than all of the second half.
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
    4. `flat`: it begins at 0. `slow-down`: an earlier level is faster. `warm-up`: all earlier ones
       are slower. `cyclic`: a period brings back values beyond the tolerance. `drift`: a trend
       beyond the tolerance goes on. Else `no-steady-state`.
    5. No class where the mean of the final state is not known within the tolerance: a level that
       holds would then be a mere lack of evidence against it.
    6. Independent: the first change point from which on no test finds dependence.
    """
    ordinary = ordinary_places(values)
    middle = abs(float(np.median(values)))
    cost = SegmentCost(values[ordinary], _FLOOR_SHARE * rules.tolerance * middle)
    changes = change_points(cost, change_penalty(cost.count))
    levels = levels_of(values[ordinary], ordinary, changes, len(values))
    final = final_level(levels, latest_start(len(values)))
    beside = differences(levels, final, rules.tolerance, rules.confidence)
    course = _course(beside, levels, rules)
    start_up = _start_up_count(levels, rules.tolerance)
    settled = course.start if course.start is not None else start_up
    kept = ordinary[np.searchsorted(ordinary, settled) :]
    period = cycle_period(values[kept], rules.tolerance)
    state, initialised = course.state, course.start
    if period is not None:
        state = "cyclic"
    elif _drifts(values[ordinary[np.searchsorted(ordinary, start_up) :]], rules.tolerance):
        state, initialised = "drift", None
    found = ExecutionState(
        label=label,
        values=values,
        start_up_count=start_up if initialised is None else initialised,
        levels=levels,
        heuristics=(dacapo(values), georges(values)),
    )
    reach = relative_reach(values[kept], rules.confidence)
    if period is None and initialised is not None and reach > rules.tolerance:
        return replace(found, refusal=_too_noisy(reach, rules))
    if course.confidence < _LEAST_CONFIDENCE:
        return replace(found, refusal=_undecided(course.confidence, state))
    independent, tests = _independence(values, initialised, levels, rules)
    return replace(
        found,
        state=state,
        initialised=initialised,
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


def _undecided(share: float, state: StateClass) -> Caution:
    return Caution(
        "undecided",
        f"only {share:.0%} of redraws of its levels give the same class ({state}); more iterations "
        "would tell.",
    )


def _course(beside: Differences, levels: Sequence[Level], rules: Rules) -> _Course:
    """The class by the levels, and the share of redraws of them that come to the same."""
    state, start = _state_of(beside.marks(beside.log_ratios).tolist(), levels)
    generator = np.random.default_rng(rules.seed)
    noise = generator.standard_normal((_REDRAWS, len(levels))) * beside.errors
    redrawn, counts = np.unique(beside.marks(beside.log_ratios + noise), axis=0, return_counts=True)
    same = sum(
        int(count)
        for marks, count in zip(redrawn.tolist(), counts, strict=True)
        if _state_of(marks, levels)[0] == state
    )
    return _Course(state, start, same / _REDRAWS)


def _state_of(marks: Sequence[int], levels: Sequence[Level]) -> tuple[StateClass, int | None]:
    """The class by how the levels differ from the final one, and where its state begins."""
    begin = state_begin(marks, levels)
    if begin is None:
        return "no-steady-state", None
    before = [mark for mark, level in zip(marks, levels, strict=True) if level.stop <= begin]
    if not before:
        return "flat", 0
    return "slow-down" if min(before) < -1 else "warm-up", begin


def _start_up_count(levels: Sequence[Level], tolerance: float) -> int:
    """How many iterations lie in leading levels that are slower than all of the second half."""
    half = levels[-1].stop / 2
    highest = max(level.mean for level in levels if level.stop > half)
    count = 0
    for level in levels:
        if level.mean <= highest * (1 + tolerance):
            break
        count = level.stop
    return count


def _drifts(values: Floats, tolerance: float) -> bool:
    """Whether a trend runs through all of `values` and changes them by more than the tolerance.

    Both halves have to go the same way, each by a quarter of what a line through all of them
    changes: the tail of a warm-up does not.
    """
    count = len(values)
    if count < FEWEST_TESTED:
        return False
    change = _slope(values) * count
    if abs(change) <= tolerance * abs(float(values.mean())):
        return False
    ranks = centred_ranks(values)
    order = np.arange(count) - (count - 1) / 2
    trend = float(ranks @ order) / float(np.sqrt((ranks @ ranks) * (order @ order)))
    halves = [_slope(half) * len(half) / change for half in np.array_split(values, 2)]
    return abs(trend) > _PLAIN_TREND and min(halves) > 0.25


def _slope(values: Floats) -> float:
    """Of the least-squares line, in the unit of the values for an iteration."""
    order = np.arange(len(values)) - (len(values) - 1) / 2
    return float(order @ values) / float(order @ order)


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
