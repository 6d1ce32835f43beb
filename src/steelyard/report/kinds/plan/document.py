"""The `plan` document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.core.experiment_spec import ExperimentSpec, NuisanceFactor
from steelyard.design.design import Design
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.plan.text import Power
from steelyard.report.texts.readable import document_value


def plan_document(
    spec: ExperimentSpec,
    factors: Mapping[str, Sequence[str]],
    sizes: tuple[int | None, int | None, float | None],
    skipped: Sequence[str],
    design: Design | None,
) -> dict[str, Any]:
    """The document of kind ``plan``.

    Parameters
    ----------
    sizes : (trials, blocks, estimated time in seconds)
        None where the rule to stop decides, or nothing is known of the time.
    """
    trials, blocks, estimated_s = sizes
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "plan",
            "name": spec.note,
            "seed": spec.seed,
            "trials": trials,
            "blocks": blocks,
            "factors": [{"name": name, "levels": list(levels)} for name, levels in factors.items()],
            "nuisance": [_nuisance(factor) for factor in spec.nuisance],
            "setup_each": spec.setup_each,
            "design": None if design is None else _design(design),
            "combinations": [variant.name for variant in spec.variants],
            "skipped": list(skipped),
            "metrics": [metric.name for metric in spec.metrics],
            "estimated_s": estimated_s,
        }
    )


def power_document(power: Power) -> dict[str, Any]:
    """What the number of runs was chosen for."""
    return {
        "effect": power.effect,
        "change": power.change_ratio,
        "variation": power.variation_ratio,
        "power": power.power,
        "runs": power.runs,
    }


def _nuisance(factor: NuisanceFactor) -> dict[str, Any]:
    return {
        "name": factor.name,
        "factor": factor.factor,
        "levels": list(factor.levels),
        "options": dict(factor.options),
    }


def _design(design: Design) -> dict[str, Any]:
    return {
        "kind": design.kind,
        "resolution": design.resolution,
        "generators": list(design.generators),
        "efficiency_ratio": design.efficiency_ratio,
        "model_order": design.model_order,
        "aliases": [
            {"effect": alias.effect, "others": list(alias.others), "weights": list(alias.weights)}
            for alias in design.aliases
        ],
    }
