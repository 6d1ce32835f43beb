"""The `measurement` document, and what it shares with `comparison`."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.comparison.comparison_results import Answer, MetricResult, VariantResult
from steelyard.analysis.comparison.unseen_kinds import largest_unseen_share
from steelyard.core.experiment_results import Experiment
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def metric_object(result: MetricResult) -> dict[str, Any]:
    """One metric of one variant. Without values every number is null, never 0."""
    summary = result.summary
    known: dict[str, Any] = {
        "unit": result.metric.unit,
        "direction": result.metric.direction,
        "available": result.available,
        "count": 0 if summary is None else summary.count,
        "mean": None if summary is None else summary.mean.as_json(),
    }
    for name in (
        "median",
        "lower_quartile",
        "upper_quartile",
        "minimum",
        "maximum",
        "standard_deviation",
        "variation",
        "max_difference",
        "max_difference_ratio",
    ):
        known[name] = None if summary is None else getattr(summary, name)
    known["unseen_share_ratio"] = summary and largest_unseen_share(
        summary.count, summary.mean.confidence
    )
    normality = None if summary is None else summary.normality
    known["normality"] = normality and {"statistic": normality.statistic, "p": normality.p}
    independence = result.independence
    known["independence"] = independence and {
        "lag_1": independence.autocorrelation[0] if independence.autocorrelation else None,
        "bound": independence.bound,
        "dependence_p": independence.dependence_p,
        "trend_p": independence.trend_p,
    }
    return known


def _variant_object(
    variant: VariantResult, answer: Answer, parameters: dict[str, str]
) -> dict[str, Any]:
    primary = variant.metrics.get(answer.metric.name)
    summary = None if primary is None else primary.summary
    return {
        "name": variant.name,
        "parameters": parameters,
        "mean": None if summary is None else summary.mean.as_json(),
        "repetitions": dict(variant.repetitions),
        "failed": variant.failed,
        "spent_s": variant.spent_s,
        "metrics": {name: metric_object(result) for name, result in variant.metrics.items()},
    }


def answer_document(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """The fields that measurement and comparison share, ready for any JSON writer."""
    spec = experiment.spec
    parameters = {variant.name: dict(variant.parameters) for variant in spec.variants}
    document = {
        "schema": SCHEMA,
        "kind": answer.kind,
        "experiment": answer.experiment,
        "metric": answer.metric.name,
        "unit": answer.metric.unit,
        "direction": answer.metric.direction,
        "created_unix_s": experiment.created_unix_s,
        "seed": spec.seed,
        "order": spec.order,
        "variants": [
            _variant_object(variant, answer, parameters.get(variant.name, {}))
            for variant in answer.variants
        ],
        "warnings": [caution.as_json() for caution in answer.cautions],
        "stopped": answer.stopped,
        "looks": [{"blocks": look.block_count, "rule": look.rule} for look in answer.looks],
        "further": _further_object(answer),
    }
    return document_value(document)


def _further_object(answer: Answer) -> dict[str, Any] | None:
    further = answer.further
    if further is None:
        return None
    return {
        "precision": further.precision_ratio,
        "blocks": further.blocks,
        "time_s": further.time_s,
    }


def measurement_document(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """The document of kind ``measurement``, as its schema says.

    Numbers are in the unit beside them; an interval that cannot be bounded has null bounds and
    the reason in ``unbounded``.
    """
    return answer_document(answer, experiment)
