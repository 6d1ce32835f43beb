"""The `dimensioning` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.dimensioning.precision import Precision, Purchase
from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning, LevelPlan
from steelyard.analysis.variance.variance_components import LevelVariance
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def _level_object(found: LevelVariance, plan: LevelPlan) -> dict[str, Any]:
    return {
        "level": found.level,
        "count": found.count,
        "mean_count": found.mean_count,
        "unit_count": found.unit_count,
        "variance": found.variance.estimate,
        "variance_interval": found.variance.as_json(),
        "biased_variance": found.biased_variance,
        "variation": found.variation,
        "cost_s": plan.cost_s,
        "optimal_count": plan.optimal_count,
        "exact_count": plan.exact_count,
        "dropped": plan.dropped,
    }


def _row_object(row: Precision) -> dict[str, Any]:
    return {
        "half_width_ratio": row.half_width_ratio,
        "top_level_count": row.count,
        "time_s": row.time_s,
        "ratio_top_level_count": row.ratio_count,
        "ratio_time_s": row.ratio_time_s,
    }


def _budget_object(purchase: Purchase) -> dict[str, Any]:
    return {
        "budget_s": purchase.budget_s,
        "top_level_count": purchase.count,
        "half_width_ratio": purchase.half_width_ratio,
        "ratio_top_level_count": purchase.ratio_count,
        "ratio_half_width_ratio": purchase.ratio_half_width_ratio,
    }


def dimensioning_document(
    answer: Dimensioning,
    metric: MetricSpec,
    source: dict[str, str | None],
) -> dict[str, Any]:
    """The document of kind ``dimensioning``, as its schema says.

    Parameters
    ----------
    answer : Dimensioning
    metric : MetricSpec
        Of the values; variances are in its unit squared.
    source : dict
        ``file``, ``experiment`` and ``variant`` that the values are from, as far as there are.
    """
    components = answer.components
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "dimensioning",
            **{name: source.get(name) for name in ("file", "experiment", "variant")},
            "metric": metric.name,
            "unit": metric.unit,
            "measurement_count": components.measurement_count,
            "mean": components.mean.as_json(),
            "estimator": components.estimator,
            "levels": [
                _level_object(found, plan)
                for found, plan in zip(components.levels, answer.plans, strict=True)
            ],
            "top_level": answer.top_level,
            "counts": dict(answer.counts),
            "counts_from": answer.counts_from,
            "top_level_time_s": answer.unit_time_s,
            "table": [_row_object(row) for row in answer.table],
            "budget": None if answer.purchase is None else _budget_object(answer.purchase),
            "warnings": [caution.as_json() for caution in answer.cautions],
        }
    )
