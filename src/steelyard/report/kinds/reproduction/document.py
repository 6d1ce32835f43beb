"""The `reproduction` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.programs.reproduction import EffectPair, Reproduction
from steelyard.core.estimate import Estimate
from steelyard.report.documents.schema_version import SCHEMA


def reproduction_document(
    found: Reproduction, experiments: tuple[str, str], response: str
) -> dict[str, Any]:
    """The document of kind ``reproduction``; the first of everything is the original."""
    return {
        "schema": SCHEMA,
        "kind": "reproduction",
        "original": experiments[0],
        "again": experiments[1],
        "metric": response,
        "hosts": list(found.hosts),
        "benchmarks": list(found.benchmarks),
        "factors": [
            {
                "term": each.term,
                "mean_percent": [each.original_mean, each.again_mean],
                "largest_percent": [each.original_most, each.again_most],
            }
            for each in found.factors
        ],
        "effects": [_pair(each) for each in found.pairs],
    }


def _pair(each: EffectPair) -> dict[str, Any]:
    return {
        "benchmark": each.benchmark,
        "term": each.term,
        "unit": "%",
        "hosts": list(each.hosts),
        "original": _estimate(each.original),
        "again": _estimate(each.again),
        "difference": _estimate(each.difference),
        "agrees": each.agrees,
        "same_answer": each.same_answer,
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    return None if found is None else found.as_json()
