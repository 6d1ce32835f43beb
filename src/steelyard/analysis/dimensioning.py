"""How often to repeat each level, what precision that buys, and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Literal

from steelyard.analysis.mean import two_sided
from steelyard.analysis.repetition_counts import (
    optimal_counts,
    rounded_up,
    top_variance,
    unit_time_s,
)
from steelyard.analysis.student import student_quantile
from steelyard.analysis.variance_components import LevelVariance, VarianceComponents
from steelyard.core.estimate import Estimate
from steelyard.core.model import Caution

# Kalibera and Jones, ISMM 2013, section 11: the columns of tables 6 and 7, and the fewest and
# most repetitions of the top level that they show.
HALF_WIDTH_RATIOS = (0.005, 0.01, 0.015, 0.025, 0.05)
FEWEST_REPETITIONS = 5
MOST_REPETITIONS = 1000
# Equation 6: the ratio of two systems that vary alike.
RATIO_WIDENING = sqrt(2.0)
# The 95 % interval of a standard deviation from fewer values than this spans a factor above 2.5.
_FEW_UNITS = 10

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
class Precision:
    """What it takes until an interval is as narrow as wanted.

    `count` is the number of repetitions of the top level, None for more than 1,000; `time_s` is
    None where costs are not known or the count is None. For the ratio of two systems that vary
    alike, the count is that of each and the time that of both.
    """

    half_width_ratio: float
    count: int | None
    time_s: float | None
    ratio_count: int | None
    ratio_time_s: float | None


@dataclass(frozen=True)
class Purchase:
    """The half-width that a time buys, relative to the mean or the ratio.

    It is None for fewer than 2 repetitions of the top level. Two systems share the time.
    """

    budget_s: float
    count: int
    half_width_ratio: float | None
    ratio_count: int
    ratio_half_width_ratio: float | None


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


@dataclass(frozen=True)
class _Repeated:
    """A repeated level. Those right below it that were not come with each of its repetitions,
    so that `cost_s` holds theirs too."""

    found: LevelVariance
    variance: float
    cost_s: float | None


@dataclass(frozen=True)
class _Prediction:
    """Predicts intervals from the deviation of the top level's means, relative to the mean."""

    deviation_ratio: float
    confidence: float
    unit_time_s: float | None

    def half_width_ratio(self, count: int) -> float:
        """With `count` repetitions of the top level, 2 or more (equation 4)."""
        quantile = student_quantile(two_sided(self.confidence), count - 1)
        return quantile * self.deviation_ratio / sqrt(count)

    def fewest(self, half_width_ratio: float) -> int | None:
        """The fewest repetitions, from 5 to 1,000, that make it as narrow; else None."""
        if self.half_width_ratio(MOST_REPETITIONS) > half_width_ratio:
            return None
        low, high = FEWEST_REPETITIONS - 1, MOST_REPETITIONS
        while high - low > 1:
            middle = (low + high) // 2
            if self.half_width_ratio(middle) > half_width_ratio:
                low = middle
            else:
                high = middle
        return high

    def precision(self, half_width_ratio: float) -> Precision:
        """A row of the table."""
        count = self.fewest(half_width_ratio)
        ratio_count = self.fewest(half_width_ratio / RATIO_WIDENING)
        return Precision(
            half_width_ratio, count, self._time_s(count), ratio_count, self._time_s(ratio_count, 2)
        )

    def _time_s(self, count: int | None, systems: int = 1) -> float | None:
        if count is None or self.unit_time_s is None:
            return None
        return systems * count * self.unit_time_s

    def purchase(self, budget_s: float) -> Purchase | None:
        """What a time buys; None where times are not known."""
        if not self.unit_time_s:
            return None
        # A budget that is a whole number of units but for rounding errors buys all of them.
        count = int(budget_s / self.unit_time_s * (1 + 1e-12))
        ratio_count = int(budget_s / (2 * self.unit_time_s) * (1 + 1e-12))
        own = self.half_width_ratio(count) if count > 1 else None
        both = RATIO_WIDENING * self.half_width_ratio(ratio_count) if ratio_count > 1 else None
        return Purchase(budget_s, count, own, ratio_count, both)


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
    there (T_n^2 <= 0), equation 3 takes the upper bound of T_n^2 instead.
    """
    levels = _repeated_levels(components.levels, costs_s)
    exact = _exact_counts(levels)
    counts = [rounded_up(c) for c in exact] if exact else _own_counts(levels)
    costs = [level.cost_s for level in levels]
    known = [cost for cost in costs if cost is not None]
    time_s = unit_time_s(known, counts) if levels and len(known) == len(costs) else None
    mean = components.mean.estimate
    table: tuple[Precision, ...] = ()
    purchase = None
    if levels and mean is not None and mean > 0:
        variance = top_variance([level.variance for level in levels], counts)
        prediction = _Prediction(sqrt(variance) / mean, components.mean.confidence, time_s)
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
        cautions=tuple(_cautions(components, levels, costs_s)),
    )


def _repeated_levels(
    levels: Sequence[LevelVariance], costs_s: Mapping[str, float]
) -> list[_Repeated]:
    found: list[_Repeated] = []
    for level in levels:
        cost_s = costs_s.get(level.level)
        if isinstance(level.variance, Estimate):
            found.append(_Repeated(level, level.variance.estimate, cost_s))
        elif found:
            above = found[-1]
            both = None if above.cost_s is None or cost_s is None else above.cost_s + cost_s
            found[-1] = _Repeated(above.found, above.variance, both)
    return found


def _exact_counts(levels: Sequence[_Repeated]) -> tuple[float, ...] | None:
    """Equation 3 before rounding, for the levels below the top one; None without their costs."""
    costs_s = [level.cost_s for level in levels if level.cost_s is not None]
    if len(costs_s) < len(levels) and len(levels) > 1:
        return None
    if len(levels) < 2:
        return ()
    top = levels[0].found.variance
    variances = [level.variance for level in levels]
    if variances[0] <= 0 and isinstance(top, Estimate):
        variances[0] = top.high
    exact = optimal_counts(variances, costs_s)
    own = [level.found.mean_count for level in levels[1:]]
    return tuple(e if isfinite(e) else o for e, o in zip(exact, own, strict=True))


def _own_counts(levels: Sequence[_Repeated]) -> list[int]:
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


def _cautions(
    components: VarianceComponents, levels: Sequence[_Repeated], costs_s: Mapping[str, float]
) -> list[Caution]:
    found: list[Caution] = []
    for level in components.levels:
        if not isinstance(level.variance, Estimate):
            found.append(Caution("one-repetition", level.variance.explanation))
    if components.estimator == "anova-henderson-1":
        found.append(
            Caution(
                "unequal-counts",
                "Repetition counts differ between units; variances are those of the unbalanced "
                "nested analysis of variance (Henderson's method I).",
            )
        )
    names = [level.level for level in components.levels]
    first = names.index(levels[0].found.level) if levels else len(names)
    unknown = [name for name in names[first:] if name not in costs_s]
    if unknown:
        found.append(_unknown_costs(unknown))
    mean = components.mean.estimate
    if mean is not None and mean <= 0:
        found.append(
            Caution(
                "mean-not-positive",
                f"The mean is {mean:g}: half-widths relative to it, and so the counts for them, "
                "cannot be told.",
            )
        )
    return found + _variation_cautions(levels)


def _unknown_costs(levels: Sequence[str]) -> Caution:
    options = " ".join(f"--cost {level}=TIME" for level in levels)
    return Caution(
        "cost-unknown",
        f"The cost of {' and '.join(levels)} is not known, so that optimal counts and times cannot "
        f"be told; the table goes by the counts of this experiment. Give {options}.",
    )


def _variation_cautions(levels: Sequence[_Repeated]) -> list[Caution]:
    if not levels:
        return []
    top = levels[0].found
    if all(level.variance == 0 for level in levels):
        return [
            Caution(
                "constant",
                "All values are alike, so that nothing seems to vary. Is the clock, or the "
                "rounding of the values, too coarse?",
            )
        ]
    found: list[Caution] = []
    if top.unit_count < _FEW_UNITS:
        found.append(
            Caution(
                "few-top-units",
                f"The variance of {top.level} rests on {top.unit_count} repetitions; the table "
                "may be far off. 20 or more are good, 30 better.",
            )
        )
    if levels[0].variance <= 0 and len(levels) > 1:
        found.append(
            Caution(
                "no-top-variation",
                f"No variation of {top.level} by itself was seen. It stays, because the interval "
                f"rests on it; counts below it assume the most variation that the data allow.",
            )
        )
    return found
