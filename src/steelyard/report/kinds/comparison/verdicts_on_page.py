"""The first thing on the page: verdicts for who has five seconds and no statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from steelyard.analysis.comparison.comparison_results import Answer, Comparison
from steelyard.analysis.comparison.unseen_kinds import largest_unseen_share
from steelyard.core.estimate import Estimate
from steelyard.report.kinds.comparison.sentences import (
    certainty,
    changed_words,
    further_sentence,
    is_measured,
    room_text,
    verdict_sentence,
    verdict_word,
    wording_of,
)
from steelyard.report.kinds.comparison.tables import metric_scale, spread_text
from steelyard.report.texts.readable import confidence_text, one_line, ratio_text
from steelyard.report.texts.table import Scale

ICONS = {"faster": "◀", "slower": "▶", "equivalent": "■", "undecided": "○"}


class Card(NamedTuple):
    """A verdict: its word and colour, the short and the exact sentence, and the next step."""

    tone: str
    icon: str
    word: str
    headline: str
    exact: str
    plain: str
    further: str


def verdict_cards(answer: Answer, names: Mapping[str, str]) -> list[Card]:
    """A card for each comparison on the answer's metric."""
    scale = metric_scale(answer, answer.metric)
    return [
        _card(comparison, answer, names, scale)
        for comparison in answer.comparisons
        if comparison.metric.name == answer.metric.name
    ]


def _card(comparison: Comparison, answer: Answer, names: Mapping[str, str], scale: Scale) -> Card:
    further = further_sentence(comparison, answer) or ""
    return Card(
        comparison.verdict,
        ICONS[comparison.verdict],
        verdict_word(comparison),
        _headline(comparison, names),
        _exact(comparison, names),
        " ".join(filter(None, (_means(comparison, answer, names, scale), _plain(comparison)))),
        further[:1].upper() + further[1:],
    )


def _exact(comparison: Comparison, names: Mapping[str, str]) -> str:
    ratio = comparison.ratio
    if not isinstance(ratio, Estimate):
        return f"{verdict_sentence(comparison, names)}."
    pair = f"{names[comparison.candidate]} / {names[comparison.baseline]}"
    return f"Ratio of means {pair}: {ratio_text(ratio)} {certainty(comparison)}"


def _headline(comparison: Comparison, names: Mapping[str, str]) -> str:
    candidate, baseline = names[comparison.candidate], names[comparison.baseline]
    metric = one_line(comparison.metric.name)
    if comparison.verdict == "equivalent":
        inside = "" if metric == "wall_time" else f" in {metric}"
        margin = f"{100 * comparison.margin_ratio:g} %"
        if wording_of(comparison.metric) in ("time", "rate"):
            return f"{candidate} is as fast as {baseline}{inside}, within {margin}"
        return f"{candidate} and {baseline} are alike in {metric}, within {margin}"
    if not is_measured(comparison):
        return f"{candidate} or {baseline}? Not measured"
    if comparison.verdict == "undecided" or not isinstance(comparison.ratio, Estimate):
        return f"{candidate} or {baseline}? Not decided yet"
    return changed_words(comparison, comparison.ratio, names)


def _means(comparison: Comparison, answer: Answer, names: Mapping[str, str], scale: Scale) -> str:
    found: list[str] = []
    for wanted in (comparison.baseline, comparison.candidate):
        variant = next((v for v in answer.variants if v.name == wanted), None)
        result = variant and variant.metrics.get(comparison.metric.name)
        if result is None or result.summary is None or result.summary.mean.estimate is None:
            return ""
        number = f"{scale.number(result.summary.mean.estimate)} {scale.unit}".rstrip()
        found.append(f"{names[wanted]} {number}")
    return f"On average: {', '.join(found)}."


def _plain(comparison: Comparison) -> str:
    ratio = comparison.ratio
    if not is_measured(comparison):
        return ""
    if not isinstance(ratio, Estimate):
        return "These measurements cannot bound the difference."
    sure = confidence_text(ratio.confidence)
    if comparison.verdict == "equivalent":
        return (
            f"Any true difference is, with {sure} confidence, within the margin of "
            f"{100 * comparison.margin_ratio:g} % that was asked for."
        )
    low, high = sorted((abs(ratio.low - 1), abs(ratio.high - 1)))
    if comparison.verdict == "undecided":
        return (
            "These measurements do not tell which is better, nor that they are alike: "
            f"they leave room for {room_text(comparison.metric, ratio)}."
        )
    return (
        f"With {sure} confidence the true difference lies between "
        f"{100 * low:.1f} % and {100 * high:.1f} %."
    )


class MeanCard(NamedTuple):
    """The mean of one variant in large letters, where nothing is compared."""

    name: str
    value: str
    exact: str
    plain: str


def mean_cards(answer: Answer, names: Mapping[str, str]) -> list[MeanCard]:
    """A card for each variant of an answer without comparisons."""
    scale = metric_scale(answer, answer.metric)
    metric = one_line(answer.metric.name)
    cards: list[MeanCard] = []
    for variant in answer.variants:
        result = variant.metrics.get(answer.metric.name)
        summary = result and result.summary
        name = names[variant.name]
        if summary is None or summary.mean.estimate is None:
            cards.append(MeanCard(name, "no value", f"{metric} is not available", ""))
            continue
        mean = summary.mean
        value = f"{scale.number(mean.estimate or 0.0)} {scale.unit}".rstrip()
        if isinstance(mean, Estimate):
            half = f"{spread_text(mean, scale)} {scale.unit}".rstrip()
            exact = f"{half} ({confidence_text(mean.confidence)})"
            plain = f"Mean {metric} of {summary.count} runs. The mean of ever more runs like "
            plain += f"these lies in this range with {confidence_text(mean.confidence)} confidence."
            share = largest_unseen_share(summary.count, mean.confidence)
            plain += f" A kind of run that comes in {100 * share:.2g} % of runs or fewer may be "
            plain += "missing from them."
        else:
            exact, plain = "no interval", mean.explanation
        cards.append(MeanCard(name, value, exact, plain))
    return cards
