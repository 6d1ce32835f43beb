"""The documents of predictions across hosts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steelyard.core.experiment_results import Caution
from steelyard.predict.platforms.fitted import FittedModels
from steelyard.predict.platforms.host_choice import HostChoice
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.model_evaluation import PlatformEvaluation
from steelyard.predict.platforms.next_measurement import NextMeasurements
from steelyard.predict.platforms.platform_answers import HostAnswer, PlatformAnswer
from steelyard.predict.platforms.scores import QUANTILES, Blame, Score, score_cases
from steelyard.predict.platforms.suite_study import SuiteStudy
from steelyard.report.documents.schema_version import SCHEMA


def _warnings(cautions: Iterable[Caution]) -> list[dict[str, str]]:
    return [caution.as_json() for caution in cautions]


def _host(answer: HostAnswer) -> dict[str, Any]:
    refusal = answer.refusal
    return {
        "host": answer.host,
        "known": answer.known,
        "measured": answer.measured,
        "value": None if answer.value is None or answer.refused else answer.value.as_json(),
        "refused": answer.refused,
        "reason": None if refusal is None else refusal.reason,
        "explanation": None if refusal is None else refusal.explanation,
        "not_relied_on": None
        if answer.value is None or not answer.refused
        else answer.value.as_json(),
    }


def answer_document(answer: PlatformAnswer, unit: str) -> dict[str, Any]:
    """The `platform-prediction` document."""
    prediction = answer.prediction
    return {
        "schema": SCHEMA,
        "kind": answer.kind,
        "application": answer.asked.application,
        "unit": unit,
        "model": answer.model.name,
        "confidence": answer.asked.confidence,
        "largest_half_width_ratio": answer.asked.limits.half_width_ratio,
        "known_hosts": answer.known_hosts,
        "predictors": list(answer.predictors),
        "adjusted_r_squared": None if prediction is None else prediction.adjusted_r_squared,
        "mallows_cp": None if prediction is None else prediction.mallows_cp,
        "weights": {} if prediction is None else dict(prediction.weights),
        "hosts": [_host(host) for host in answer.hosts],
        "warnings": _warnings(answer.cautions),
    }


def fits_document(found: FittedModels) -> dict[str, Any]:
    """The `platform-fit` document."""
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "application": found.application,
        "known_hosts": found.known_hosts,
        "models": [
            {
                "model": one.model.name,
                "predictors": list(one.predictors),
                "adjusted_r_squared": one.prediction.adjusted_r_squared,
                "mallows_cp": one.prediction.mallows_cp,
                "noise": None if one.prediction.noise is None else one.prediction.noise.source,
                "exhaustive": one.prediction.exhaustive,
                "error_median": one.error_median,
                "error_max": one.error_max,
            }
            for one in found.models
        ],
        "warnings": _warnings(found.cautions),
    }


def _errors(values: tuple[float, ...] | None, prefix: str) -> dict[str, float | None]:
    names = [f"p{100 * share:g}" for share in QUANTILES]
    names[0], names[-1] = "median", "max"
    found = values or (None,) * len(names)
    return {f"{prefix}_{name}": value for name, value in zip(names, found, strict=True)}


def _blame(table: PlatformTable, blame: Blame | None) -> dict[str, Any] | None:
    if blame is None:
        return None
    return {
        "cases": blame.cases,
        "least_error": blame.least_error,
        "hosts": [{"host": table.hosts[row], "cases": count} for row, count in blame.by_host],
        "applications": [
            {"application": table.benchmarks[place], "cases": count}
            for place, count in blame.by_application
        ],
        "without": [table.benchmarks[place] for place in blame.dropped],
        "error_max_without": blame.error_max,
    }


def _strategy(table: PlatformTable, score: Score) -> dict[str, Any]:
    one = score.evaluated
    return {
        "strategy": one.model.name,
        "known_hosts": one.known_hosts,
        "cases": len(one.cases),
        "answered_ratio": score.answered_ratio,
        **_errors(score.answered, "error"),
        **_errors(score.everything, "all_error"),
        "coverage": None if score.coverage is None else score.coverage.as_json(),
        "curve": [
            {
                "answered_ratio": point.share,
                "error_median": point.error_median,
                "error_p95": point.error_p95,
                "error_max": point.error_max,
            }
            for point in score.curve
        ],
        "worst": _blame(table, score.blame),
    }


def evaluation_document(found: PlatformEvaluation) -> dict[str, Any]:
    """The `platform-evaluation` document: strategies with the most known hosts, and with all."""
    every = [_strategy(found.table, score_cases(one)) for one in found.evaluated]
    most = max((one["known_hosts"] for one in every), default=0)
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "source": found.table.source,
        "hosts": list(found.table.hosts),
        "benchmarks": list(found.table.benchmarks),
        "seed": found.design.seed,
        "confidence": found.design.confidence,
        "strategies": [one for one in every if one["known_hosts"] == most],
        "by_known_hosts": every,
        "warnings": _warnings(found.cautions),
    }


def choice_document(found: HostChoice, unit: str) -> dict[str, Any]:
    """The `platform-choice` document."""
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "application": found.answer.asked.application,
        "unit": unit,
        "chosen": found.candidates[0].answer.host,
        "by_price": found.by_price,
        "seed": found.seed,
        "candidates": [
            {
                **_host(one.answer),
                "price": one.price,
                "probability": one.probability,
                "regret_ratio": one.regret_ratio,
            }
            for one in found.candidates
        ],
        "warnings": _warnings(found.cautions),
    }


def next_document(found: NextMeasurements) -> dict[str, Any]:
    """The `platform-next` document."""
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "application": found.application,
        "known_hosts": found.known_hosts,
        "hosts": [{"host": one.host, "doubt_ratio": one.doubt_ratio} for one in found.hosts],
        "benchmarks": [
            {"host": one.host, "benchmark": one.benchmark, "error_ratio": one.error_ratio}
            for one in found.benchmarks
        ],
        "warnings": _warnings(found.cautions),
    }


def suite_document(found: SuiteStudy) -> dict[str, Any]:
    """The `platform-suite` document."""
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "source": found.table.source,
        "tolerance_ratio": found.tolerance_ratio,
        "limit_ratio": found.limit_ratio,
        "benchmarks": [
            {
                "benchmark": part.benchmark,
                "verdict": part.verdict,
                "error_p90": part.error_p90 if part.error_p90 < float("inf") else None,
                "cluster": part.cluster,
                "nearest": part.nearest,
                "correlation": part.correlation,
            }
            for part in found.parts
        ],
        "merges": [[float(cell) for cell in row] for row in found.clustering.merges.tolist()],
        "worst": _blame(found.table, found.blame),
        "warnings": _warnings(found.cautions),
    }
