"""How narrow an interval becomes with time, for several ways to spend that time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from steelyard.analysis.dimensioning.precision import MOST_REPETITIONS, Prediction
from steelyard.analysis.dimensioning.repeated_levels import RepeatedLevel, repeated_levels
from steelyard.analysis.dimensioning.repetition_counts import top_variance, unit_time_s
from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning, planned_variances

DesignName = Literal["optimum", "experiment", "top-only", "equal"]
_POINTS_PER_CURVE = 60
# Beyond this no design of equal counts is anything but waste, and no plot is readable.
_MOST_EQUAL = 100


@dataclass(frozen=True)
class CurvePoint:
    """With `count` repetitions of the top level the interval has this half-width, relative to
    the mean, after this time in seconds."""

    count: int
    time_s: float
    half_width_ratio: float


@dataclass(frozen=True)
class PrecisionCurve:
    """One design.

    Parameters
    ----------
    name : str
        ``"optimum"``: the counts of equation 3; ``"experiment"``: those of the initial
        experiment; ``"top-only"``: one of every level below the top one; ``"equal"``: as many of
        every level as of the top one.
    counts : mapping of level to int
        Of the levels below the top one; empty for ``"equal"``, where they grow along the curve.
    points : tuple of CurvePoint
        By rising time.
    """

    name: DesignName
    counts: Mapping[str, int]
    points: tuple[CurvePoint, ...]


def precision_curves(answer: Dimensioning) -> tuple[PrecisionCurve, ...]:
    """The curves of an answer, the best design first; none where costs or the mean are unknown.

    Notes
    -----
    Kalibera and Jones, ISMM 2013, equation 4 with the S_n^2 that equation 2 lets expect.
    """
    costs_s = {plan.level: plan.cost_s for plan in answer.plans if plan.cost_s is not None}
    levels = repeated_levels(answer.components.levels, costs_s)
    mean = answer.components.mean.estimate
    if not levels or not mean or mean <= 0 or any(level.cost_s is None for level in levels):
        return ()
    names = [level.found.level for level in levels[1:]]
    spread = _Spread(levels, mean, answer.components.mean.confidence)
    curves: list[PrecisionCurve] = []
    if answer.counts_from == "optimum":
        best = [answer.counts[name] for name in names]
        curves.append(_curve("optimum", names, best, spread))
    own = [max(1, round(level.found.mean_count)) for level in levels[1:]]
    curves.append(_curve("experiment", names, own, spread))
    if names:
        curves.append(_curve("top-only", names, [1] * len(names), spread))
        points = [spread.point([count] * len(names), count) for count in range(2, _MOST_EQUAL + 1)]
        curves.append(PrecisionCurve("equal", {}, tuple(points)))
    return tuple(curves)


@dataclass(frozen=True)
class _Spread:
    levels: Sequence[RepeatedLevel]
    mean: float
    confidence: float

    def point(self, counts: Sequence[int], top_count: int) -> CurvePoint:
        variance = top_variance(planned_variances(self.levels), counts)
        time_s = unit_time_s([level.cost_s or 0.0 for level in self.levels], counts)
        prediction = Prediction(sqrt(variance) / self.mean, self.confidence, time_s)
        return CurvePoint(top_count, top_count * time_s, prediction.half_width_ratio(top_count))


def _curve(
    name: DesignName, names: Sequence[str], counts: Sequence[int], spread: _Spread
) -> PrecisionCurve:
    tops = _spaced(2, MOST_REPETITIONS, _POINTS_PER_CURVE)
    points = tuple(spread.point(counts, top) for top in tops)
    return PrecisionCurve(name, dict(zip(names, counts, strict=True)), points)


def _spaced(low: int, high: int, count: int) -> list[int]:
    """Whole numbers from `low` to `high` in about equal proportions."""
    step = (high / low) ** (1 / (count - 1))
    return sorted({round(low * step**index) for index in range(count)})


def variance_shares(answer: Dimensioning) -> dict[str, float]:
    """Each level's part of the variance of a single measurement, highest level first.

    Variances that were estimated below 0 count as 0; empty where nothing varies or levels were
    not repeated.
    """
    found = {
        level.level: max(0.0, level.variance.estimate or 0.0) for level in answer.components.levels
    }
    total = sum(found.values())
    return {level: variance / total for level, variance in found.items()} if total > 0 else {}
