"""The tables of an answer as rows of text, for every face that shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from steelyard.analysis.comparison.comparison_results import (
    Answer,
    Comparison,
    MetricResult,
    Summary,
)
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.units import scale_for
from steelyard.report.kinds.comparison.sentences import is_measured, verdict_word
from steelyard.report.texts.readable import confidence_text, decimals_for, is_asymmetric, ratio_text
from steelyard.report.texts.table import UNAVAILABLE, Scale, Table

RANGE = "\N{HORIZONTAL ELLIPSIS}"
_WIDEST_SPREAD = 1000.0


def scale_of(summaries: Sequence[Summary], unit: str) -> Scale:
    """The scale for some summaries: the unit of the smallest mean, unless they lie far apart."""
    means = [abs(s.mean.estimate) for s in summaries if s.mean.estimate]
    if not means:
        return Scale(*scale_for(0.0, unit), 3)
    low, high = min(means), max(means)
    factor, name = scale_for(low if high < _WIDEST_SPREAD * low else high, unit)
    whole = max(1, math.floor(math.log10(high / factor)) + 1) if high else 1
    wanted = [
        decimals_for(s.mean.half_width / factor)
        for s in summaries
        if isinstance(s.mean, Estimate) and s.mean.half_width > 0
    ]
    decimals = max(wanted) if wanted else max(0, 4 - whole)
    exact = factor == 1 and name != "s" and all(_is_whole(s) for s in summaries)
    return Scale(factor, name, 0 if exact else min(decimals, max(0, 7 - whole)))


def _is_whole(summary: Summary) -> bool:
    return summary.minimum == summary.maximum == round(summary.minimum)


def mean_text(mean: Interval, scale: Scale) -> str:
    """A mean with its half-width, or why it has none."""
    if isinstance(mean, Estimate):
        return f"{scale.number(mean.estimate)} {spread_text(mean, scale)}"
    if mean.estimate is None:
        return "no interval"
    return f"{scale.number(mean.estimate)} (no interval)"


def spread_text(mean: Estimate, scale: Scale) -> str:
    """How far the interval of a mean reaches: ``± 0.03``, or ``[0.97, 1.08]`` where it is clearly
    asymmetric (as that of skewed values is)."""
    if is_asymmetric(mean):
        return f"[{scale.number(mean.low)}, {scale.number(mean.high)}]"
    return f"± {scale.number(mean.half_width)}"


def percent_text(ratio: float) -> str:
    """A ratio in percent with one decimal; a dash for one to a mean of 0."""
    return f"{100 * ratio:.1f} %" if math.isfinite(ratio) else "–"


def results_of(answer: Answer, metric: str) -> list[tuple[str, MetricResult | None]]:
    """Each variant's name with its result for `metric`."""
    return [(variant.name, variant.metrics.get(metric)) for variant in answer.variants]


def _summary_of(result: MetricResult | None) -> Summary | None:
    return None if result is None else result.summary


def metric_scale(answer: Answer, metric: MetricSpec) -> Scale:
    """The scale on which all variants of `answer` show `metric`."""
    found = [_summary_of(result) for _, result in results_of(answer, metric.name)]
    return scale_of([summary for summary in found if summary is not None], metric.unit)


def variant_table(answer: Answer, metric: MetricSpec, names: Mapping[str, str]) -> Table:
    """The table of one metric: a row a variant, with its ratio where variants are compared."""
    scale = metric_scale(answer, metric)
    show = scale.number
    cells: tuple[Callable[[Summary], str], ...] = (
        lambda s: mean_text(s.mean, scale),
        lambda s: show(s.median),
        lambda s: f"{show(s.lower_quartile)} {RANGE} {show(s.upper_quartile)}",
        lambda s: percent_text(s.variation),
        lambda s: f"{show(s.minimum)} {RANGE} {show(s.maximum)}",
    )
    compared = {c.candidate: c for c in answer.comparisons if c.metric.name == metric.name}
    rows: list[tuple[str, ...]] = []
    for variant in answer.variants:
        ratio = "1"
        if variant.name in compared:
            ratio = _ratio_cells(compared[variant.name])[0]
        summary = _summary_of(variant.metrics.get(metric.name))
        if summary is None:
            middle = (UNAVAILABLE, "", *[""] * (len(cells) - 1), "0")
        else:
            first, *others = (cell(summary) for cell in cells)
            middle = (first, ratio, *others, str(summary.count))
        rows.append((names[variant.name], *middle, str(variant.failed)))
    headers = (
        scale.label(metric),
        _mean_header(answer, metric),
        "ratio",
        "median",
        "quartiles",
        "CoV",
        f"min {RANGE} max",
        "n",
        "failed",
    )
    table = Table(headers, tuple(rows), spare=(4, 6, 3, 5))
    return table if compared else table.without(2)


def _mean_header(answer: Answer, metric: MetricSpec) -> str:
    for _, result in results_of(answer, metric.name):
        summary = _summary_of(result)
        if summary is not None:
            return f"mean ± {confidence_text(summary.mean.confidence)}"
    return "mean"


def other_metrics(answer: Answer, hidden: Collection[str] = ()) -> list[MetricSpec]:
    """The metrics of an answer besides its own and those hidden, in the order asked for."""
    found: dict[str, MetricSpec] = {}
    for variant in answer.variants:
        for name in variant.metrics:
            if name not in found and name not in hidden and name != answer.metric.name:
                found[name] = variant.metrics[name].metric
    return list(found.values())


def other_metrics_table(
    answer: Answer, names: Mapping[str, str], hidden: Collection[str] = ()
) -> Table | None:
    """The compact table of all other metrics but those `hidden`: a row a metric and variant.

    None without any.
    """
    rows: list[tuple[str, ...]] = []
    compared = {(c.metric.name, c.candidate): c for c in answer.comparisons}
    for metric in other_metrics(answer, hidden):
        scale = metric_scale(answer, metric)
        title = scale.label(metric)
        for name, result in results_of(answer, metric.name):
            summary = _summary_of(result)
            shown = UNAVAILABLE if summary is None else mean_text(summary.mean, scale)
            variation = "" if summary is None else percent_text(summary.variation)
            ratio, verdict = _ratio_cells(compared.get((metric.name, name)))
            rows.append((title, names[name], shown, variation, ratio, verdict))
            title = ""
    if not rows:
        return None
    headers = ("metric", "variant", "mean", "CoV", "ratio", "verdict")
    table = Table(headers, tuple(rows), frozenset({0, 1, 5}), spare=(3,))
    return table if answer.comparisons else table.without(5).without(4)


def _ratio_cells(comparison: Comparison | None) -> tuple[str, str]:
    if comparison is None:
        return "", ""
    if not isinstance(comparison.ratio, Estimate):
        return "unbounded" if is_measured(comparison) else "", verdict_word(comparison)
    return ratio_text(comparison.ratio), verdict_word(comparison)
