"""The `cause` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.cause.causal_analysis import Arm, Cause, Interaction, Intermediate
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def cause_document(found: Cause, origin: Origin) -> dict[str, Any]:
    """The document of kind ``cause``, as its schema says."""
    left, in_unit, ratio = found.left, found.left_in_unit, found.mean_ratio
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "cause",
            "file": origin.file,
            "experiment": origin.experiment,
            "factor": found.factor,
            "intervention": found.intervention,
            "response": found.response,
            "unit": found.unit,
            "relative": found.relative,
            "levels": list(found.levels),
            "blocks": found.block_count,
            "verdict": found.verdict,
            "reason": found.reason,
            "tolerance": found.terms.tolerance,
            "margin": found.terms.margin,
            "arms": [_arm(arm) for arm in (found.without, found.held) if arm is not None],
            "share_left": None if left is None else left.as_json(),
            "share_left_in_unit": None if in_unit is None else in_unit.as_json(),
            "interaction": _interaction(found.interaction),
            "mean_ratio": None if ratio is None else ratio.as_json(),
            "intermediate": _intermediate(found.intermediate),
            "warnings": [caution.as_json() for caution in found.cautions],
        }
    )


def _arm(arm: Arm) -> dict[str, Any]:
    return {
        "name": arm.name,
        "mean": arm.mean,
        "means": list(arm.means),
        "half_widths": list(arm.half_widths),
        "spread": arm.spread.as_json(),
        "noise": arm.noise,
        "range": arm.range,
        "statistic": arm.statistic,
        "degrees": list(arm.degrees),
        "p": arm.p,
    }


def _interaction(found: Interaction | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "spread": found.spread.as_json(),
        "statistic": found.statistic,
        "degrees": list(found.degrees),
        "p": found.p,
    }


def _intermediate(found: Intermediate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "name": found.name,
        "without": found.without.as_json(),
        "held": found.held.as_json(),
        "moves": found.moves,
        "rests": found.rests,
    }
