"""The `comparison` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.results import Answer, Comparison
from steelyard.core.model import Experiment
from steelyard.report.json.measurement import answer_document
from steelyard.report.wording import document_value


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """One candidate against the baseline on one metric."""
    return {
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "metric": comparison.metric.name,
        "verdict": comparison.verdict,
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
    """
    primary = answer.metric.name
    document = answer_document(answer, experiment)
    found = [document_value(comparison_object(c)) for c in answer.comparisons]
    document["comparisons"] = [c for c in found if c["metric"] == primary]
    document["other_comparisons"] = [c for c in found if c["metric"] != primary]
    return document
