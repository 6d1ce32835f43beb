"""One execution: what its iterations do, and from where on they can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.analysis.states.class_verdict import verdict_of
from steelyard.analysis.states.dependence import FEWEST_TESTED, Dependence, dependence
from steelyard.analysis.states.heuristics import HeuristicChoice, dacapo, georges
from steelyard.analysis.states.segment_levels import Level
from steelyard.analysis.states.state_classes import StateClass
from steelyard.analysis.states.state_rules import Rules
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.tables.data_columns import Floats
from steelyard.core.experiment_results import Caution

__all__ = ["ExecutionState", "Rules", "execution_state"]

_MOST_STARTS = 8


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
        Probability that the execution is steady, or not steady, as the class says.
    share : float or None
        Share of redraws, from the errors of what the class rests on, that come to it.
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
    share: float | None = None
    start_up_count: int = 0
    levels: tuple[Level, ...] = ()
    period: int | None = None
    dependence: Dependence | None = None
    heuristics: tuple[HeuristicChoice, ...] = ()
    refusal: Caution | None = None


def execution_state(label: str, values: Floats, rules: Rules) -> ExecutionState:
    """What the iterations of an execution do.

    Parameters
    ----------
    values : array
        Positive, finite, not all alike, enough: `refusal_of` finds nothing.

    Notes
    -----
    1. Outliers are set aside (`ordinary_places`), for change points and levels.
    2. The rest is divided where mean or spread change, at many penalties (`change_path`).
    3. Going back from the end, levels (those at the usual penalty) belong to the final state until
       one differs from the prevailing level of the last sixth by more than the tolerance; there the
       final state begins (`state_begin`).
    4. `cyclic`: a period brings back values beyond the tolerance. No class if the values wander
       (`wandering`). `drift`: a trend beyond the tolerance goes on.
    5. Else `no-steady-state` if it is more probable than not, by how plain the changes in the last
       sixth are (`unsteadiness`). No class if the probability is between 25 and 50 %.
    6. Else `flat`: the final state begins at 0. `slow-down`: an earlier level is better.
       `warm-up`: all earlier ones are worse. By the levels at the least penalty at which there is
       such a state.
    7. No class where the mean of the final state is not known within the tolerance: a level that
       holds would then be a mere lack of evidence against it. Nor where the final state, without
       its excursions, varies in stretches too short for change points (`local_levels`).
    8. Independent: the first change point from which on no test finds dependence.
    """
    verdict = verdict_of(values, rules)
    course, start = verdict.course, verdict.initialised
    found = ExecutionState(
        label=label,
        values=values,
        start_up_count=verdict.start_up_count if course.start is None else course.start,
        levels=course.levels,
        heuristics=(dacapo(values), georges(values)),
        refusal=verdict.refusal,
    )
    if verdict.state is None:
        return found
    independent, tests = _independence(values, start, course.levels, rules)
    return replace(
        found,
        state=verdict.state,
        initialised=start,
        independent=independent,
        confidence=verdict.confidence,
        share=verdict.share,
        period=verdict.period,
        dependence=tests,
    )


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
