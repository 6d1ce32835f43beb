"""How often to repeat each level, what precision that buys, and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Literal

from steelyard.analysis.dimensioning.dimensioning_cautions import dimensioning_cautions
from steelyard.analysis.dimensioning.precision import (
    HALF_WIDTH_RATIOS,
    Precision,
    Prediction,
    Purchase,
)
from steelyard.analysis.dimensioning.repeated_levels import RepeatedLevel, repeated_levels
from steelyard.analysis.dimensioning.repetition_counts import (
    optimal_counts,
    rounded_up,
    top_variance,
    unit_time_s,
)
from steelyard.analysis.variance.variance_components import LevelVariance, VarianceComponents
from steelyard.core.experiment_results import Caution

CountsFrom = Literal["optimum", "experiment"]


@dataclass(frozen=True)
class LevelPlan:
    """What is asked of one repetition level.

    Parameters
    ----------
    level : str
    cost_s : float or None
        Time that one more repetition adds by itself; None where it is not known.
    optimal_count : int or None
        Repetitions in a unit of the level above. None for the highest repeated level, where the
        wanted precision decides, for levels above it, and where costs are not known.
    exact_count : float or None
        The same before it was rounded up.
    dropped : bool
        Repeating it is not worth its cost: one repetition is all that it gets.
    """

    level: str
    cost_s: float | None
    optimal_count: int | None
    exact_count: float | None
    dropped: bool


@dataclass(frozen=True)
class Dimensioning:
    """The answer of an initial experiment.

    Parameters
    ----------
    components : VarianceComponents
    plans : tuple of LevelPlan
        Highest level first, as the components.
    top_level : str or None
        The level that the table counts: the highest one that was repeated. None without any.
    counts : mapping of level to int
        Repetitions of the repeated levels below it, by which the table goes.
    counts_from : str
        ``"optimum"``, or ``"experiment"`` where costs are not known.
    unit_time_s : float or None
        Time of one repetition of the top level with all that is in it.
    table : tuple of Precision
        Empty where the data give no answer; `cautions` say why.
    purchase : Purchase or None
        What the budget buys, where one was given and times are known.
    cautions : tuple of Caution
    """

    components: VarianceComponents
    plans: tuple[LevelPlan, ...]
    top_level: str | None
    counts: Mapping[str, int]
    counts_from: CountsFrom
    unit_time_s: float | None
    table: tuple[Precision, ...]
    purchase: Purchase | None
    cautions: tuple[Caution, ...]


def dimensioning(
    components: VarianceComponents,
    costs_s: Mapping[str, float],
    budget_s: float | None = None,
) -> Dimensioning:
    """The best repetition counts, and the precision that they buy.

    Parameters
    ----------
    components : VarianceComponents
    costs_s : mapping of level to float
        Time that one more repetition of the level adds by itself: of an iteration its duration,
        of an execution the time until its first kept iteration, of a build its time. Levels may
        be missing; then counts cannot be told and the table goes by those of the experiment.
    budget_s : float, optional
        A time whose precision is asked for.

    Notes
    -----
    Kalibera and Jones, ISMM 2013: equation 3 for the counts (`optimal_counts` says when a level
    is dropped and what that does to its neighbours), Student's half-width with the expected
    S_n^2 for the table (equation 4), and equation 6 for the ratio of two systems alike. The
    half-width is that of the root mean square; the interval of one experiment scatters around
    it, the more the fewer repetitions the top level has.

    The interval rests on the top level, so that it is never dropped. If nothing is seen to vary
    there (T_n^2 <= 0), equation 3 and the predictions take the upper bound of T_n^2 instead; where
    that is 0 too, the level below keeps the count of the experiment.
    """
    levels = repeated_levels(components.levels, costs_s)
    exact = _exact_counts(levels)
    counts = [rounded_up(c) for c in exact] if exact else _own_counts(levels)
    costs = [level.cost_s for level in levels]
    known = [cost for cost in costs if cost is not None]
    time_s = unit_time_s(known, counts) if levels and len(known) == len(costs) else None
    mean = components.mean.estimate
    table: tuple[Precision, ...] = ()
    purchase = None
    if levels and mean is not None and mean > 0:
        variance = top_variance(planned_variances(levels), counts)
        prediction = Prediction(sqrt(variance) / mean, components.mean.confidence, time_s)
        table = tuple(prediction.precision(wanted) for wanted in HALF_WIDTH_RATIOS)
        purchase = None if budget_s is None else prediction.purchase(budget_s)
    below = [level.found.level for level in levels[1:]]
    return Dimensioning(
        components=components,
        plans=_plans(components.levels, costs_s, dict(zip(below, exact or (), strict=False))),
        top_level=levels[0].found.level if levels else None,
        counts=dict(zip(below, counts, strict=True)),
        counts_from="optimum" if exact is not None else "experiment",
        unit_time_s=time_s,
        table=table,
        purchase=purchase,
        cautions=tuple(dimensioning_cautions(components, levels, costs_s)),
    )


def _exact_counts(levels: Sequence[RepeatedLevel]) -> tuple[float, ...] | None:
    """Equation 3 before rounding, for the levels below the top one; None without their costs."""
    costs_s = [level.cost_s for level in levels if level.cost_s is not None]
    if len(costs_s) < len(levels) and len(levels) > 1:
        return None
    if len(levels) < 2:
        return ()
    exact = optimal_counts(planned_variances(levels), costs_s)
    own = [level.found.mean_count for level in levels[1:]]
    return tuple(e if isfinite(e) else o for e, o in zip(exact, own, strict=True))


def planned_variances(levels: Sequence[RepeatedLevel]) -> list[float]:
    """The variances that counts and predictions rest on, highest level first: the estimates, but of
    a top level of which nothing is seen the upper bound if its effects are normal."""
    variances = [level.variance for level in levels]
    high = levels[0].found.normal_high
    if variances[0] <= 0 and high is not None:
        variances[0] = high
    return variances


def _own_counts(levels: Sequence[RepeatedLevel]) -> list[int]:
    return [max(1, round(level.found.mean_count)) for level in levels[1:]]


def _plans(
    levels: Sequence[LevelVariance], costs_s: Mapping[str, float], exact: Mapping[str, float]
) -> tuple[LevelPlan, ...]:
    plans: list[LevelPlan] = []
    below_repeated = False
    for level in levels:
        count = exact.get(level.level)
        if count is None and below_repeated and not level.repeated:
            # Never repeated: what that would buy is unknown, so it stays at one.
            count = 1.0
        below_repeated = below_repeated or level.repeated
        plans.append(
            LevelPlan(
                level=level.level,
                cost_s=costs_s.get(level.level),
                optimal_count=None if count is None else rounded_up(count),
                exact_count=count,
                dropped=count is not None and count <= 1.0,
            )
        )
    return tuple(plans)
