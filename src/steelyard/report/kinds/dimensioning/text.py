"""A dimensioning as text for people."""

from __future__ import annotations

from steelyard.analysis.dimensioning.precision import Purchase
from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning, LevelPlan
from steelyard.analysis.variance.variance_components import LevelVariance
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.units import format_duration, format_value
from steelyard.report.kinds.comparison.tables import RANGE
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import caution_text, confidence_text, one_line
from steelyard.report.texts.table import Table

_UNKNOWN = "?"
_INFINITE = "∞"
_ESTIMATORS = {
    "anova-balanced": "analysis of variance, equal counts (Kalibera and Jones, eq. 1 and 2)",
    "anova-henderson-1": "analysis of variance, unequal counts (Henderson's method I)",
    "reml": "restricted maximum likelihood",
}


def dimensioning_text(answer: Dimensioning, metric: MetricSpec, width: int | None = None) -> str:
    """Variations, best counts, and the precision that they buy; ends with a newline.

    Parameters
    ----------
    answer : Dimensioning
    metric : MetricSpec
        Of the values.
    width : int, optional
        Columns to fit the tables into.
    """
    components = answer.components
    count = components.measurement_count
    lines = [
        f"{one_line(metric.name)}: mean {_mean(answer, metric.unit)}, "
        f"{count} {'measurement' if count == 1 else 'measurements'}",
        f"variances: {_ESTIMATORS[components.estimator]}",
        "",
        *plain_table(levels_table(answer, metric.unit), width),
    ]
    if answer.table:
        lines += ["", *precision_heading(answer), *plain_table(precision_table(answer), width)]
    if answer.purchase is not None:
        lines += ["", *purchase_lines(answer.purchase, answer)]
    if answer.cautions:
        lines += ["", *(f"warning: {caution_text(c.message)}" for c in answer.cautions)]
    return "\n".join(lines) + "\n"


def _mean(answer: Dimensioning, unit: str) -> str:
    mean = answer.components.mean
    if mean.estimate is None:
        return "not known"
    shown = format_value(mean.estimate, unit)
    if not isinstance(mean, Estimate):
        return f"{shown} (no interval)"
    half_width = format_value(mean.half_width, unit, 2)
    return f"{shown} ± {half_width} ({confidence_text(mean.confidence)})"


def levels_table(answer: Dimensioning, unit: str) -> Table:
    """A row a level: its variation with bounds, its cost, and how often to repeat it."""
    components = answer.components
    headers = (
        "level",
        "repeated",
        "variation",
        confidence_text(components.mean.confidence),
        "variance",
        "cost",
        "repeat",
    )
    rows = tuple(
        (
            one_line(found.level),
            _repeated(found),
            *_variation(found, components.mean.estimate),
            _variance(found, unit),
            _UNKNOWN if plan.cost_s is None else _cost(plan.cost_s),
            _repeat(found, plan, answer),
        )
        for found, plan in zip(components.levels, answer.plans, strict=True)
    )
    return Table(headers, rows, left=frozenset({0, 6}), spare=(4, 3))


def _repeated(found: LevelVariance) -> str:
    if found.mean_count == found.count:
        return str(found.count)
    return f"{found.mean_count:.1f} (mean)"


def _variation(found: LevelVariance, mean: float | None) -> tuple[str, str]:
    """The variation in percent of the mean, and its bounds."""
    if found.variation is None or not mean or not isinstance(found.variance, Estimate):
        return _UNKNOWN, ""
    low, high = (100 * bound**0.5 / mean for bound in (found.variance.low, found.variance.high))
    return f"{100 * found.variation:.2f} %", f"{low:.2f} {RANGE} {high:.2f} %"


def _variance(found: LevelVariance, unit: str) -> str:
    estimate = found.variance.estimate
    if estimate is None:
        return _UNKNOWN
    squared = f"({unit})²" if "/" in unit else f"{unit}²"
    return f"{estimate:.4g} {squared}" if unit else f"{estimate:.4g}"


def _cost(cost_s: float) -> str:
    return format_value(cost_s, "s", 3) if cost_s < 60 else format_duration(cost_s)


def _repeat(found: LevelVariance, plan: LevelPlan, answer: Dimensioning) -> str:
    if plan.level == answer.top_level:
        return "as the table says"
    if plan.optimal_count is None:
        return _UNKNOWN
    if not found.repeated:
        return "1 (as here: what more would buy is not known)"
    if plan.dropped:
        return "1 (dropped: more is not worth its cost)"
    return f"{plan.optimal_count} (from {plan.exact_count:.2f})"


def _counts(answer: Dimensioning) -> str:
    shown = ", ".join(f"{count} x {one_line(level)}" for level, count in answer.counts.items())
    return f" of {shown}" if shown else ""


def precision_heading(answer: Dimensioning) -> list[str]:
    """What the rows of `precision_table` count."""
    top, time_s = one_line(answer.top_level or ""), answer.unit_time_s
    origin = "" if answer.counts_from == "optimum" else " (as in this experiment)"
    each = "" if time_s is None else f", {_cost(time_s)} each"
    confidence = confidence_text(answer.components.mean.confidence)
    return [
        f"Repetitions of {top}{_counts(answer)}{origin}{each}, for a half-width of the "
        f"{confidence} interval; of a ratio, for each of two systems that vary alike:"
    ]


def precision_table(answer: Dimensioning) -> Table:
    """A row for each half-width: repetitions of the top level, and their time."""
    level = one_line(answer.top_level or "")
    headers = ("half-width", f"mean: {level}", "time", f"ratio: 2 x {level}", "time")
    rows = tuple(
        (
            f"{100 * row.half_width_ratio:g} %",
            _count(row.count),
            _time(row.count, row.time_s),
            _count(row.ratio_count),
            _time(row.ratio_count, row.ratio_time_s),
        )
        for row in answer.table
    )
    return Table(headers, rows, left=frozenset())


def _count(count: int | None) -> str:
    return _INFINITE if count is None else str(count)


def _time(count: int | None, time_s: float | None) -> str:
    if count is None:
        return ""
    return _UNKNOWN if time_s is None else format_duration(time_s)


def purchase_lines(purchase: Purchase, answer: Dimensioning) -> list[str]:
    """What a budget buys: a line that says so, and one each for the mean and for a ratio."""
    top = one_line(answer.top_level or "")
    found = [f"{format_duration(purchase.budget_s)} buys"]
    for count, half_width, what in (
        (purchase.count, purchase.half_width_ratio, "the mean"),
        (purchase.ratio_count, purchase.ratio_half_width_ratio, "a ratio, for each of two systems"),
    ):
        shown = "no interval" if half_width is None else f"± {100 * half_width:.2f} %"
        found.append(f"  {shown} of {what}: {count} x {top}")
    return found
