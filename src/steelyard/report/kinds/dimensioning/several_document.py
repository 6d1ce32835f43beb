"""The `dimensionings` document: several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.dimensioning.document import dimensioning_document


def dimensionings_document(
    answers: Sequence[tuple[str, Dimensioning, MetricSpec]],
) -> dict[str, Any]:
    """The document of kind ``dimensionings``: each as its own would be, under its variant."""
    return {
        "schema": SCHEMA,
        "kind": "dimensionings",
        "dimensionings": [
            dimensioning_document(answer, metric, {"variant": name})
            for name, answer, metric in answers
        ],
    }
