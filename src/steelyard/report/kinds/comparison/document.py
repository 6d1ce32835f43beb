"""The `comparison` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.comparison.comparison_results import Answer, Comparison
from steelyard.core.experiment_results import Experiment
from steelyard.report.kinds.comparison.gate_sentences import gate_object
from steelyard.report.kinds.comparison.measurement_document import answer_document
from steelyard.report.texts.readable import document_value


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """One candidate against the baseline on one metric."""
    benchmark = {"benchmark": comparison.benchmark} if comparison.benchmark else {}
    return {
        **benchmark,
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "metric": comparison.metric.name,
        "verdict": comparison.verdict,
        "sign": comparison.sign,
        "margin": comparison.margin_ratio,
        "simultaneous": comparison.simultaneous,
        "ratio": comparison.ratio.as_json(),
        "further_blocks": comparison.further_blocks,
        "further_s": comparison.further_s,
    }


def comparison_document(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """The document of kind ``comparison``, as its schema says.

    ``comparisons`` holds those on the experiment's metric, one a candidate; those on its other
    metrics are in ``other_comparisons``, so that who reads verdicts cannot mix them up.
    ``geometric_mean`` has the geometric mean of the ratios over groups, null where there is one
    group.
    """
    primary = answer.metric.name
    document = answer_document(answer, experiment)
    found = [document_value(comparison_object(c)) for c in answer.comparisons]
    document["comparisons"] = [c for c in found if c["metric"] == primary]
    document["other_comparisons"] = [c for c in found if c["metric"] != primary]
    gate = gate_object(answer)
    if gate is not None:
        document["gate"] = document_value(gate)
    document["geometric_mean"] = document_value(_geometric_mean_object(answer))
    return document


def _geometric_mean_object(answer: Answer) -> dict[str, Any] | None:
    """The geometric means over all groups; None where there is one group."""
    if not answer.geometric_means:
        return None
    first = answer.geometric_means[0]
    return {
        "metric": first.metric.name,
        "groups": first.group_count,
        "baseline": first.baseline,
        "margin": first.margin_ratio,
        "candidates": [
            {"candidate": mean.candidate, "verdict": mean.verdict, "ratio": mean.ratio.as_json()}
            for mean in answer.geometric_means
        ],
    }
