"""The class of an execution and how sure it is, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.analysis.states.change_points import ChangePath, Changes, change_path
from steelyard.analysis.states.cyclic_values import cycle_confidence, cycle_period
from steelyard.analysis.states.drift import drift_confidence, drifts
from steelyard.analysis.states.local_levels import local_levels
from steelyard.analysis.states.outliers import ordinary_places
from steelyard.analysis.states.refusals import between, too_noisy, undecided, unsettled, wanders
from steelyard.analysis.states.segment_cost import Integers, SegmentCost
from steelyard.analysis.states.segment_levels import relative_reach
from steelyard.analysis.states.state_classes import Course, StateClass, course_of, start_up_count
from steelyard.analysis.states.state_rules import Rules
from steelyard.analysis.states.steadiness import Unsteadiness, stated_confidence, unsteadiness
from steelyard.analysis.states.wandering import wandering
from steelyard.analysis.tables.data_columns import Floats
from steelyard.core.experiment_results import Caution

# Relative spread below which nothing is told apart, as a share of the tolerance.
_FLOOR_SHARE = 0.02
# Below this share of redraws the class is as good as guessed.
_LEAST_SHARE = 0.5
# A wrong `flat` is worse than a wrong `no-steady-state`, as nobody looks again: the one takes even
# odds, the other three to one.
UNSTEADY_FROM, STEADY_UP_TO = 0.5, 0.25


@dataclass(frozen=True)
class Verdict:
    """The class of an execution.

    Parameters
    ----------
    course : Course
        The levels that it rests on.
    start_up_count : int
        Leading iterations that are worse than all of the second half.
    state : str or None
        None where `refusal` says why.
    confidence : float or None
        Probability of being judged steady, or not steady, as the class says.
    share : float or None
        Of the redraws of what the class rests on, how many come to it.
    period : int or None
        Of a cycle.
    refusal : Caution or None
    unsteadiness : Unsteadiness or None
        What decided between steady and not; None for a cycle, a drift, or values that wander.
    """

    course: Course
    start_up_count: int
    state: StateClass | None = None
    confidence: float | None = None
    share: float | None = None
    period: int | None = None
    refusal: Caution | None = None
    unsteadiness: Unsteadiness | None = None

    @property
    def initialised(self) -> int | None:
        """Where the final state begins, if the class has one."""
        has_one = self.state in ("flat", "warm-up", "slow-down", "cyclic")
        return self.course.start if has_one else None


@dataclass(frozen=True)
class _Inquiry:
    """What all questions about an execution are asked of.

    Parameters
    ----------
    values : array
        All iterations.
    ordinary : array
        Those that are no outliers.
    path : ChangePath
        Of the ordinary ones.
    """

    values: Floats
    ordinary: Integers
    path: ChangePath
    rules: Rules
    generator: np.random.Generator

    def course(self, changes: Changes) -> Course:
        """The levels between `changes` and what they come to."""
        return course_of(self.values, self.ordinary, changes, self.rules, self.generator)

    def ordinary_from(self, start: int) -> Floats:
        """The values from an iteration on, without outliers."""
        return self.values[self.ordinary[np.searchsorted(self.ordinary, start) :]]


def verdict_of(values: Floats, rules: Rules) -> Verdict:
    """The class of an execution with these iterations, as `execution_state` says."""
    ordinary = ordinary_places(values)
    middle = abs(float(np.median(values)))
    path = change_path(SegmentCost(values[ordinary], _FLOOR_SHARE * rules.tolerance * middle))
    asked = _Inquiry(values, ordinary, path, rules, np.random.default_rng(rules.seed))
    course = asked.course(path.usual)
    found = Verdict(course, start_up_count(course.levels, rules))
    regular = _cycle(asked, found) or _walk_or_trend(asked, found)
    if regular is not None:
        return regular
    plain = unsteadiness(values, ordinary, path, rules.tolerance, course.unsteady_share)
    found, probability = replace(found, unsteadiness=plain), plain.probability
    if probability > UNSTEADY_FROM:
        sure = stated_confidence(probability)
        return replace(found, state="no-steady-state", confidence=sure, share=1.0)
    if probability > STEADY_UP_TO:
        return replace(found, refusal=between(probability))
    return _steady(asked, found, stated_confidence(1 - probability))


def _cycle(asked: _Inquiry, found: Verdict) -> Verdict | None:
    start = found.course.start
    settled = asked.ordinary_from(found.start_up_count if start is None else start)
    tolerance = asked.rules.tolerance
    period = cycle_period(settled, tolerance)
    if period is None:
        return None
    share = cycle_confidence(settled, period, tolerance, asked.generator)
    return replace(_judged(found, "cyclic", share), period=period)


def _walk_or_trend(asked: _Inquiry, found: Verdict) -> Verdict | None:
    """Values that hold no level, by chance or by a trend; None where neither is seen."""
    tolerance = asked.rules.tolerance
    first = int(np.searchsorted(asked.ordinary, found.start_up_count))
    running = asked.ordinary_from(found.start_up_count)
    changes = [change - first for change in asked.path.usual if change > first]
    walk = wandering(running, np.array(changes, dtype=np.int64), tolerance)
    if walk is not None:
        return replace(found, refusal=wanders(walk, asked.rules))
    if not drifts(running, tolerance):
        return None
    return _judged(found, "drift", drift_confidence(running, tolerance, asked.generator))


def _judged(found: Verdict, state: StateClass, share: float) -> Verdict:
    """The class whose own redraws say how sure it is."""
    if share < _LEAST_SHARE:
        return replace(found, refusal=undecided(share, state))
    return replace(found, state=state, confidence=share, share=share)


def _steady(asked: _Inquiry, found: Verdict, sure: float) -> Verdict:
    """The class of an execution that is steady, said with the confidence `sure`: by the levels at
    the least penalty, from the usual one on, at which there is a final state."""
    course = found.course
    for changes in asked.path.coarser:
        if course.start is not None:
            break
        course = asked.course(changes)
    found, rules = replace(found, course=course), asked.rules
    reach = relative_reach(asked.ordinary_from(course.start or 0), rules.confidence)
    if reach > rules.tolerance:
        return replace(found, refusal=too_noisy(reach, rules))
    if course.share < _LEAST_SHARE:
        return replace(found, refusal=undecided(course.share, course.state))
    undisturbed = asked.values[course.undisturbed(asked.ordinary)]
    local = local_levels(undisturbed, rules.tolerance, asked.generator)
    if local is not None:
        return replace(found, refusal=unsettled(local, rules))
    return replace(found, state=course.state, confidence=sure, share=course.share)
