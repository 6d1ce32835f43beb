"""The class of an execution by its levels, and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.analysis.states.change_points import Changes
from steelyard.analysis.states.class_redraws import REDRAWS
from steelyard.analysis.states.final_state import state_begin
from steelyard.analysis.states.segment_cost import Integers
from steelyard.analysis.states.segment_levels import (
    Differences,
    Level,
    differences,
    final_level,
    levels_of,
)
from steelyard.analysis.states.state_rules import Rules
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.tables.data_columns import Floats

StateClass = Literal["flat", "warm-up", "slow-down", "cyclic", "drift", "no-steady-state"]
_Outcome = tuple[StateClass, int | None]
_UNSTEADY: _Outcome = ("no-steady-state", None)


@dataclass(frozen=True)
class Course:
    """What the levels come to.

    Parameters
    ----------
    levels : tuple of Level
    beside : Differences
        The levels beside the final one.
    state : str
        The class.
    start : int or None
        Where the final state begins; None if it is not seen long enough.
    share : float
        Of the redraws of the levels from their errors, and of those with a final state if this
        one has it, how many come to the same class.
    unsteady_share : float
        Of all redraws, how many have no final state that is seen long enough.
    """

    levels: tuple[Level, ...]
    beside: Differences
    state: StateClass
    start: int | None
    share: float
    unsteady_share: float

    def undisturbed(self, places: Integers) -> Integers:
        """Those of `places` in the final state that are not in levels which surely differ."""
        begins = np.array([level.start for level in self.levels])
        at = np.searchsorted(begins, places, side="right") - 1
        marks = self.beside.marks(self.beside.log_ratios)
        return places[(places >= (self.start or 0)) & (np.abs(marks[at]) < 2)]


def course_of(
    values: Floats,
    places: Integers,
    changes: Changes,
    rules: Rules,
    generator: np.random.Generator,
) -> Course:
    """The course of an execution over the levels between `changes`.

    Parameters
    ----------
    values : array
        All iterations.
    places : array
        Those that are no outliers; `changes` are places in this array.
    """
    levels = levels_of(values[places], places, changes, len(values))
    final = final_level(levels, latest_start(len(values)))
    beside = differences(levels, final, rules.tolerance, rules.confidence)
    better = 1 if rules.direction == "lower" else -1
    marks = better * beside.marks(beside.log_ratios)
    state, start = _state_of(marks.tolist(), levels)
    noise = generator.standard_normal((REDRAWS, len(levels))) * beside.errors
    drawn = better * beside.marks(beside.log_ratios + noise)
    redrawn, counts = np.unique(drawn, axis=0, return_counts=True)
    seen: Counter[_Outcome] = Counter()
    for drawn_marks, count in zip(redrawn.tolist(), counts.tolist(), strict=True):
        seen[_state_of(drawn_marks, levels)] += count
    unsteady = seen.pop(_UNSTEADY, 0)
    if start is None:
        return Course(levels, beside, state, None, unsteady / REDRAWS, unsteady / REDRAWS)
    state, start, share = _settled(state, start, seen)
    return Course(levels, beside, state, start, share, unsteady / REDRAWS)


def _settled(
    state: StateClass, start: int, seen: Counter[_Outcome]
) -> tuple[StateClass, int, float]:
    """The class and the start of the final state, and the share of redraws with that class: those
    found, unless most redraws come to another class; then those that most of them come to."""
    total = max(1, seen.total())

    def share_of(wanted: StateClass) -> float:
        return sum(count for (one, _), count in seen.items() if one == wanted) / total

    if seen and share_of(state) < 0.5:
        state = max((one for one, _ in seen), key=share_of)
        alike = {begin: count for (one, begin), count in seen.items() if one == state}
        start = max((begin or 0 for begin in alike), key=lambda begin: alike.get(begin, 0))
    return state, start, share_of(state)


def _state_of(marks: Sequence[int], levels: Sequence[Level]) -> _Outcome:
    """The class by how the levels differ from the final one (below 0: better), and where its state
    begins."""
    begin = state_begin(marks, levels)
    if begin is None:
        return _UNSTEADY
    before = [mark for mark, level in zip(marks, levels, strict=True) if level.stop <= begin]
    if not before:
        return "flat", 0
    return "slow-down" if min(before) < -1 else "warm-up", begin


def start_up_count(levels: Sequence[Level], rules: Rules) -> int:
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
