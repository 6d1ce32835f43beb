"""The `bisection` document."""

from __future__ import annotations

from typing import Any

from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.bisection.bisection_facts import BisectionTold
from steelyard.report.texts.readable import document_value


def bisection_document(told: BisectionTold) -> dict[str, Any]:
    """The document of kind ``bisection``, as its schema says."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "bisection",
            "repository": told.repository,
            "good": told.good,
            "bad": told.bad,
            "revisions": told.revisions_count,
            "metric": told.metric,
            "ends": told.ends.as_json(),
            "revision": told.revision,
            "subject": told.subject,
            "inseparable": [name for name, _ in told.inseparable],
            "probability": told.probability,
            "size": None if told.size is None else told.size.as_json(),
            "stopped": told.stopped,
            "confidence": told.confidence,
            "probabilities": dict(told.probabilities),
            "tests": [
                {
                    "revision": test.revision,
                    "outcome": test.outcome,
                    "runs": test.run_count,
                    "ratio": test.ratio,
                    "spent_s": test.spent_s,
                    "experiment": test.experiment or None,
                }
                for test in told.tests
            ],
        }
    )
