"""The `states` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.states.benchmark_states import HeuristicError, Proposal, StatesResult
from steelyard.analysis.states.execution import ExecutionState
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def _execution_object(found: ExecutionState, chosen: int | None) -> dict[str, Any]:
    tests = found.dependence
    return {
        "execution": found.label,
        "iterations": len(found.values),
        "class": found.state,
        "initialised": found.initialised,
        "independent": found.independent,
        "confidence": found.confidence,
        "class_share": found.share,
        "start_up_count": found.start_up_count,
        "period": found.period,
        "chosen": chosen,
        "levels": [
            {"start": level.start, "mean": level.mean, "standard_error": level.error}
            for level in found.levels
        ],
        "dependence": None
        if tests is None
        else {
            "iterations": tests.count,
            "lag_1": tests.lag_1,
            "serial_p": tests.serial_p,
            "trend_p": tests.trend_p,
            "cycle_p": tests.cycle_p,
        },
        "heuristics": [
            {"name": one.name, "first": one.first, "count": one.count, "mean": one.mean}
            for one in found.heuristics
        ],
        "refusal": None if found.refusal is None else found.refusal.as_json(),
    }


def _proposal_object(proposal: Proposal) -> dict[str, Any]:
    return {
        "rule": proposal.rule,
        "iteration": proposal.iteration,
        "agreement": proposal.agreement,
        "reason": proposal.explanation,
        "mean": None if proposal.mean is None else proposal.mean.as_json(),
        "from_choices": proposal.from_choices,
    }


def _heuristic_object(found: HeuristicError) -> dict[str, Any]:
    return {
        "name": found.name,
        "decided": found.decided_count,
        "compared": len(found.errors),
        "median_error_ratio": found.median_error,
        "largest_error_ratio": found.largest_error,
    }


def states_document(result: StatesResult, origin: Origin) -> dict[str, Any]:
    """The document of kind ``states``, as its schema says."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "states",
            "file": origin.file,
            "experiment": origin.experiment,
            "variant": origin.variant,
            "metric": origin.metric.name,
            "unit": origin.metric.unit,
            "tolerance": result.rules.tolerance,
            "confidence": result.rules.confidence,
            "seed": result.rules.seed,
            "executions": [
                _execution_object(found, result.chosen.get(found.label))
                for found in result.executions
            ],
            "proposal": _proposal_object(result.proposal),
            "heuristics": [_heuristic_object(found) for found in result.heuristics],
            "warnings": [caution.as_json() for caution in result.cautions],
        }
    )
