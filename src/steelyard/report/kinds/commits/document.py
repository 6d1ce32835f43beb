"""The documents of predictions about commits."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.predict.commits.commit_answers import BenchmarkAnswer, CommitAnswer
from steelyard.predict.commits.pair_rows import ComparedPair
from steelyard.predict.commits.predictor import Predictor
from steelyard.predict.commits.predictor_evaluation import CommitEvaluation, Score
from steelyard.predict.commits.rates import Counts
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.commits.text import main_score


def _answer(one: BenchmarkAnswer) -> dict[str, Any]:
    return {
        "benchmark": one.benchmark,
        "known": one.known,
        "unknown": one.unknown,
        "probability": one.probability.as_json(),
        "run": one.run,
        "reasons": list(one.reasons),
        "cost_s": one.cost_s,
    }


def answer_document(answer: CommitAnswer) -> dict[str, Any]:
    """The `commit-prediction` document."""
    predictor = answer.predictor
    return {
        "schema": SCHEMA,
        "kind": answer.kind,
        "model": predictor.model.name,
        "wanted_hit_rate": predictor.wanted_hit_rate,
        "cutoff": predictor.cutoff,
        "learnt_pairs": len(predictor.table),
        "learnt_hits": int(predictor.table.hits.sum()),
        "benchmarks": [_answer(one) for one in answer.benchmarks],
        "warnings": [caution.as_json() for caution in answer.cautions],
    }


def indicators_document(found: ComparedPair) -> dict[str, Any]:
    """The `commit-indicators` document."""
    table, change = found.table, found.change
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "machine": change.old.machine,
        "old": {"file": change.old.source, "build_id": change.old.build_id},
        "new": {"file": change.new.source, "build_id": change.new.build_id},
        "functions": {
            "old": len(change.old),
            "new": len(change.new),
            "changed": len(change.changed),
            "data_changed": len(change.data),
            "added": len(change.added),
            "deleted": len(change.deleted),
        },
        "sources": None
        if found.sources is None
        else [{"file": name, "lines": lines} for name, lines in found.sources.lines],
        "benchmarks": [
            {
                "benchmark": name,
                "indicators": {
                    indicator: _number(value)
                    for indicator, value in zip(table.indicators, table.values[row], strict=True)
                },
                "reasons": list(found.reasons[row]),
            }
            for row, name in enumerate(table.benchmarks)
        ],
        "warnings": [caution.as_json() for caution in found.cautions],
    }


def predictor_document(predictor: Predictor, model_named: str | None) -> dict[str, Any]:
    """The `commit-predictor` document: what was learnt, and all that it was learnt from."""
    table = predictor.table
    return {
        "schema": SCHEMA,
        "kind": "commit-predictor",
        "model": predictor.model.name,
        "model_named": model_named,
        "wanted_hit_rate": predictor.wanted_hit_rate,
        "cutoff": predictor.cutoff,
        "models": [
            {
                "model": trust.model,
                "log_loss": None if trust.answered == 0 else trust.log_loss,
                "pairs": trust.answered,
            }
            for trust in predictor.trusts
        ],
        "thresholds": dict(sorted(predictor.thresholds.by_indicator.items())),
        "indicators": list(table.indicators),
        "rows": [
            {
                "benchmark": table.benchmarks[row],
                "known": table.known[row],
                "unknown": table.unknown[row],
                "project": table.projects[row],
                "order": _number(table.order[row]),
                "distance": _number(table.distance[row]),
                "cost_s": _number(table.cost_s[row]),
                "changed": _number(table.changed[row]),
                "values": [_number(value) for value in table.values[row]],
            }
            for row in range(len(table))
        ],
        "warnings": [caution.as_json() for caution in predictor.cautions],
    }


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _counts(counts: Counts) -> dict[str, Any]:
    return {
        "hits": counts.hits,
        "caught": counts.caught,
        "neutral": counts.neutral,
        "dismissed": counts.dismissed,
        "hit_rate": counts.hit_rate.as_json(),
        "dismiss_rate": counts.dismiss_rate.as_json(),
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        "design": score.design,
        "model": score.model,
        "part": score.part,
        "learnt": score.learnt,
        **_counts(score.rates.all),
        "hit_rate_macro": score.rates.hit_rate_macro,
        "dismiss_rate_macro": score.rates.dismiss_rate_macro,
        "saved_s": score.rates.saved_s,
        "total_s": score.rates.total_s,
        "refused": score.refused,
        "benchmarks": [
            {"benchmark": name, **_counts(counts)} for name, counts in score.rates.by_benchmark
        ],
    }


def evaluation_document(found: CommitEvaluation) -> dict[str, Any]:
    """The `commit-evaluation` document; the rates at its top are those of the score that counts."""
    main = _score(main_score(found)) if found.scores else None
    return {
        "schema": SCHEMA,
        "kind": found.kind,
        "pairs": len(found.table),
        "hits": int(found.table.hits.sum()),
        "design": None if main is None else main["design"],
        "model": None if main is None else main["model"],
        "hit_rate": None if main is None else main["hit_rate"],
        "dismiss_rate": None if main is None else main["dismiss_rate"],
        "benchmarks": [] if main is None else main["benchmarks"],
        "scores": [_score(score) for score in found.scores],
        "warnings": [caution.as_json() for caution in found.cautions],
    }
