"""The table of an answer about several benchmarks: a row for each, and how they stand together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from steelyard.analysis.comparison.comparison_results import Answer, Comparison, Summary
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.kinds.comparison.sentences import NOT_MEASURED, is_measured, verdict_word
from steelyard.report.kinds.comparison.tables import mean_text, scale_of
from steelyard.report.texts.readable import one_line, ratio_text
from steelyard.report.texts.table import UNAVAILABLE, Table

_WORDS = ("slower", "faster", "equivalent", "undecided", NOT_MEASURED)


def benchmark_comparisons(answer: Answer) -> list[Comparison]:
    """The comparisons on the answer's metric where each names its benchmark and there are
    several; none otherwise."""
    found = [c for c in answer.comparisons if c.metric.name == answer.metric.name]
    return found if len({c.benchmark for c in found} - {""}) > 1 else []


def benchmark_table(answer: Answer, metric: MetricSpec) -> Table:
    """A row for each benchmark and candidate: both means, each in its own unit, ratio, verdict."""
    found = [c for c in answer.comparisons if c.metric.name == metric.name and c.benchmark]
    summaries = {v.name: v.metrics.get(metric.name) for v in answer.variants}
    several = len({c.sides for c in found}) > 1
    rows: list[tuple[str, ...]] = []
    for comparison in found:
        pair = (comparison.baseline, comparison.candidate)
        known = {name: result.summary for name in pair if (result := summaries[name]) is not None}
        candidate = (one_line(comparison.sides[1]),) if several else ()
        ratio = comparison.ratio
        rows.append(
            (
                one_line(comparison.benchmark),
                *candidate,
                *_means(pair, known, metric),
                ratio_text(ratio) if isinstance(ratio, Estimate) else "no interval",
                verdict_word(comparison),
            )
        )
    sides = found[0].sides if found else ("baseline", "candidate")
    names = ("candidate", one_line(sides[0]), "its mean") if several else map(one_line, sides)
    headers = ("benchmark", *names, "ratio", "verdict")
    left = {0, len(headers) - 1} | ({1} if several else set())
    return Table(headers, tuple(rows), frozenset(left))


def _means(
    pair: tuple[str, str], known: Mapping[str, Summary | None], metric: MetricSpec
) -> tuple[str, ...]:
    """Both means with their half-widths, in one unit."""
    found = [known.get(name) for name in pair]
    scale = scale_of([summary for summary in found if summary is not None], metric.unit)
    return tuple(
        UNAVAILABLE if s is None else f"{mean_text(s.mean, scale)} {scale.unit}".rstrip()
        for s in found
    )


def benchmarks_sentence(answer: Answer) -> str | None:
    """How many benchmarks have which verdict, or None where there are not several."""
    found = benchmark_comparisons(answer)
    if not found:
        return None
    counts = Counter(c.verdict if is_measured(c) else NOT_MEASURED for c in found)
    told = ", ".join(f"{counts[word]} {word}" for word in _WORDS if counts[word])
    several = len({c.sides[1] for c in found}) > 1
    what = "comparisons" if several else "benchmarks"
    return f"Of {len(found)} {what}: {told}"
