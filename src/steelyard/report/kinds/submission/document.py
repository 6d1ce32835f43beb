"""The `submission` document."""

from __future__ import annotations

from typing import Any

from steelyard.report.documents.schema_version import SCHEMA
from steelyard.service.submissions import SubmissionSummary


def submission_document(summary: SubmissionSummary, *, sent: bool = False) -> dict[str, Any]:
    """The document of kind ``submission``, as its schema says; of a plan without an experiment."""
    return {
        "schema": SCHEMA,
        "kind": "submission",
        "experiment": summary.experiment if sent else None,
        "trials": summary.trial_count,
        "blocks": summary.block_count,
        "workers": list(summary.workers),
        "fewest": summary.fewest,
        "estimated_s": summary.estimated_s,
        "estimated_from": summary.estimated_from,
        "goes_on": summary.goes_on,
    }
