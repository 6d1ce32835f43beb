"""Verdicts as sentences that read right for the metric that they are about."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from steelyard.analysis.comparison.comparison_results import Answer, Comparison, GeometricMean
from steelyard.analysis.comparison.unseen_kinds import largest_unseen_share
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.units import format_duration, format_value
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import (
    confidence_text,
    difference_text,
    one_line,
    ratio_text,
    times_text,
)

_SENTENCES = {
    "time": "{candidate} is {word} than {baseline}{inside}: {times}, {difference} {amount} {what}",
    "rate": "{candidate} is {word} than {baseline}: {metric} {difference} {side}, {times} as high",
    "bytes": "{candidate} uses {difference} {word} {metric} than {baseline}, {times} as much",
    "count": "{candidate} needs {difference} {word} {metric} than {baseline}, {times} as many",
    "other": "{candidate} is {word} than {baseline}: {metric} {difference} {side}, {times} as high",
}
# For each kind of metric: the word when the candidate's value is lower, and when it is higher.
_LOWER_IS_BETTER = {
    "time": ("faster", "slower"),
    "rate": ("faster", "slower"),
    "bytes": ("less", "more"),
    "count": ("fewer", "more"),
    "other": ("better", "worse"),
}
BETTER_WORDS = ("faster", "less", "fewer", "better")
WORSE_WORDS = ("slower", "more", "worse")
NOT_MEASURED = "not measured"
_HIGHER_IS_BETTER = {"rate": ("slower", "faster"), "other": ("worse", "better")}


def wording_of(metric: MetricSpec) -> str:
    """Which kind of sentence a metric takes: time, rate, bytes, count or other."""
    if metric.direction == "higher":
        return "rate" if metric.unit.endswith("/s") else "other"
    return {"s": "time", "bytes": "bytes", "count": "count"}.get(metric.unit, "other")


def change_word(metric: MetricSpec, ratio: float) -> str:
    """How a candidate is called whose value is `ratio` times the baseline's."""
    words = _LOWER_IS_BETTER if metric.direction == "lower" else _HIGHER_IS_BETTER
    lower, higher = words[wording_of(metric)]
    return lower if ratio < 1 else higher


def is_measured(comparison: Comparison) -> bool:
    """Whether both variants have values of the metric."""
    ratio = comparison.ratio
    return not (isinstance(ratio, Unbounded) and ratio.reason == "no-values")


def verdict_word(comparison: Comparison) -> str:
    """The verdict in the word that fits the metric: ``less`` memory, not ``faster``."""
    if not is_measured(comparison):
        return NOT_MEASURED
    ratio = comparison.ratio.estimate
    if comparison.verdict in ("equivalent", "undecided") or ratio is None:
        return comparison.verdict
    return change_word(comparison.metric, ratio)


def certainty(comparison: Comparison) -> str:
    """The confidence in brackets, with a word where several intervals share it."""
    together = ", simultaneous" if comparison.simultaneous else ""
    return f"({confidence_text(comparison.ratio.confidence)}{together})"


def _in_metric(metric: MetricSpec) -> str:
    return "" if metric.name == "wall_time" else f" in {one_line(metric.name)}"


def magnitude_note(answer: Answer) -> str | None:
    """What 'times as fast' and 'less time' mean, where a verdict on a time says so."""
    found = [c for c in answer.comparisons if c.metric.name == answer.metric.name]
    told = any(c.verdict in ("faster", "slower") for c in found)
    if not told or wording_of(answer.metric) != "time":
        return None
    return (
        "times as fast, or as long: the quotient of the two means; less, or more, time: the "
        "difference of the means in percent of the baseline's"
    )


def _times(metric: MetricSpec, ratio: Estimate) -> str:
    if wording_of(metric) != "time":
        return times_text(ratio)
    faster = ratio.estimate < 1
    return f"{times_text(ratio, inverse=faster)} as {'fast' if faster else 'long'}"


def changed_words(comparison: Comparison, ratio: Estimate, names: Mapping[str, str]) -> str:
    """By how much a candidate is better or worse, as a clause: both as times and in percent."""
    metric = comparison.metric
    return _SENTENCES[wording_of(metric)].format(
        times=_times(metric, ratio),
        what="time" if metric.name == "wall_time" else one_line(metric.name),
        amount="less" if ratio.estimate < 1 else "more",
        candidate=names[comparison.candidate],
        baseline=names[comparison.baseline],
        word=change_word(metric, ratio.estimate),
        inside=_in_metric(metric),
        metric=one_line(metric.name),
        difference=difference_text(ratio),
        side="lower" if ratio.estimate < 1 else "higher",
    )


def room_text(metric: MetricSpec, ratio: Estimate) -> str:
    """What an interval still allows, such as ``3.0 % faster as well as 2.7 % slower``.

    An interval of few and scattered values may reach below 0, where there are no ratios of times.
    """
    low, high = max(0.0, ratio.low), ratio.high
    # So many decimals that the two ends of a narrow interval read differently.
    width_percent = 100 * (high - low)
    decimals = 1 - math.floor(math.log10(width_percent)) if 0 < width_percent < 1 else 1
    ends = [
        f"{abs(bound - 1) * 100:.{decimals}f} % {change_word(metric, bound)}"
        for bound in (low, high)
    ]
    return " as well as ".join(ends)


def verdict_sentence(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """The verdict of a comparison in one sentence without a full stop.

    Parameters
    ----------
    comparison : Comparison
        What to say.
    names : mapping of variant name to label, optional
        How variants are called; by default their names, made printable and short.
    """
    if comparison.benchmark:
        called = dict(
            zip((comparison.baseline, comparison.candidate), comparison.sides, strict=True)
        )
        alone = replace(comparison, benchmark="")
        return f"{one_line(comparison.benchmark)}: {verdict_sentence(alone, called)}"
    names = names or labels((comparison.baseline, comparison.candidate))
    metric, ratio = comparison.metric, comparison.ratio
    candidate = names[comparison.candidate]
    baseline = names[comparison.baseline] + _in_metric(metric)
    if isinstance(ratio, Unbounded):
        reason = one_line(ratio.explanation).rstrip(".")
        state = "is undecided" if is_measured(comparison) else "was not measured"
        return f"{candidate} against {baseline} {state}: {reason}"
    if comparison.verdict == "equivalent":
        margin = f"{100 * comparison.margin_ratio:g} %"
        return (
            f"{candidate} is equivalent to {baseline} within {margin}: "
            f"ratio {ratio_text(ratio)} {certainty(comparison)}"
        )
    if comparison.verdict == "undecided":
        return _undecided(comparison, ratio, (candidate, baseline))
    return f"{changed_words(comparison, ratio, names)} {certainty(comparison)}"


def _undecided(comparison: Comparison, ratio: Estimate, names: tuple[str, str]) -> str:
    """What is open; where only the size is, the side is said."""
    candidate, baseline = names
    room = room_text(comparison.metric, ratio)
    if comparison.sign == "unclear":
        return (
            f"{candidate} against {baseline} is undecided: ratio {ratio_text(ratio)} "
            f"{certainty(comparison)} leaves room for {room}"
        )
    word = change_word(comparison.metric, ratio.estimate)
    return (
        f"{candidate} against {baseline} is {word}, but undecided at a margin of "
        f"{100 * comparison.margin_ratio:g} %: ratio {ratio_text(ratio)} "
        f"{certainty(comparison)} leaves room for {room}"
    )


def further_sentence(comparison: Comparison, answer: Answer) -> str | None:
    """What would decide an undecided verdict, or None where nothing is open or known.

    An imported experiment names no command, so that nothing can go on with it.
    """
    if comparison.verdict != "undecided" or comparison.further_blocks is None:
        return None
    blocks = comparison.further_blocks
    duration = "" if comparison.further_s is None else f" ({format_duration(comparison.further_s)})"
    words = f"about {blocks} more block{'' if blocks == 1 else 's'}{duration} would decide it"
    return f"{words}: steelyard resume {answer.experiment}" if answer.resumable else words


# What `resume` gives a session unless told otherwise; an estimate may be wrong by half.
_USUAL_SESSION_S = 600.0
_ROOM = 1.5


def precision_sentence(answer: Answer) -> str | None:
    """What would reach the precision that was not reached, with the command that runs it; None
    where nothing is left."""
    further = answer.further
    if further is None:
        return None
    runs = "run" if len(answer.variants) == 1 else "block"
    count = f"{further.blocks} more {runs}{'' if further.blocks == 1 else 's'}"
    words = f"for ± {100 * further.precision_ratio:g} %: about {format_duration(further.time_s)}"
    if not answer.resumable:
        return f"{words} ({count})"
    budget = ""
    if further.time_s * _ROOM > _USUAL_SESSION_S:
        budget = f" --budget {ceil(further.time_s * _ROOM / 60)}min"
    return f"{words} more ({count}): steelyard resume {answer.experiment}{budget}"


# The processor time is worth a word where it is known so much better than the wall time.
_BETTER = 2.0
# Of a program that computes most of its time: one that waits has little processor time.
_COMPUTES_RATIO = 0.5


def steadier_sentence(answer: Answer) -> str | None:
    """The processor time of one program, where other programs disturb its wall time and the
    precision was not reached; else None."""
    if answer.further is None or len(answer.variants) != 1:
        return None
    metrics = answer.variants[0].metrics
    wall, cpu = (metrics[n].summary if n in metrics else None for n in ("wall_time", "cpu_time"))
    if answer.metric.name != "wall_time" or wall is None or cpu is None:
        return None
    if not isinstance(wall.mean, Estimate) or not isinstance(cpu.mean, Estimate):
        return None
    known = cpu.mean.half_width / max(cpu.mean.estimate, 1e-9)
    better = known * _BETTER < wall.mean.half_width / wall.mean.estimate
    if not better or cpu.mean.estimate < _COMPUTES_RATIO * wall.minimum:
        return None
    return (
        f"cpu_time is known better: {format_value(cpu.mean.estimate, 's')} ± {100 * known:.1f} % "
        "(--metric cpu_time); it does not count the time that other programs take"
    )


def geometric_mean_sentence(mean: GeometricMean) -> str:
    """A geometric mean of ratios in one sentence without a full stop."""
    over = f"Over {mean.group_count} {'benchmarks' if mean.of_benchmarks else 'groups'}"
    pair = f"{one_line(mean.candidate)} / {one_line(mean.baseline)}{_in_metric(mean.metric)}"
    if isinstance(mean.ratio, Unbounded):
        reason = one_line(mean.ratio.explanation).rstrip(".")
        return f"{over} the geometric mean of {pair} has no interval: {reason}"
    word = mean.verdict
    if word not in ("equivalent", "undecided"):
        word = change_word(mean.metric, mean.ratio.estimate)
    return (
        f"{over} the geometric mean of {pair} is {ratio_text(mean.ratio)} "
        f"({confidence_text(mean.ratio.confidence)}): {word}"
    )


def together_sentence(answer: Answer) -> str | None:
    """What simultaneous intervals promise, or None where there are none."""
    found = [c for c in answer.comparisons if c.simultaneous]
    if not found:
        return None
    return (
        f"The intervals are simultaneous: with {confidence_text(found[0].ratio.confidence)} "
        "confidence all of a metric's comparisons hold at once."
    )


def unseen_sentences(answer: Answer) -> list[str]:
    """What the mean of one program is a mean of; nothing for comparisons, whose ratios are of runs
    that both programs have alike."""
    if answer.kind != "measurement":
        return []
    results = [variant.metrics.get(answer.metric.name) for variant in answer.variants]
    summaries = [result.summary for result in results if result is not None and result.summary]
    if not summaries:
        return []
    fewest = min(summaries, key=lambda summary: summary.count)
    share = largest_unseen_share(fewest.count, fewest.mean.confidence)
    runs = "run" if fewest.count == 1 else "runs"
    return [
        f"the mean is that of the kinds of run seen in {fewest.count} {runs}; a kind that comes in "
        f"{100 * share:.2g} % of runs or fewer may be missing "
        f"({confidence_text(fewest.mean.confidence)})"
    ]
