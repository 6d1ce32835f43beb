"""The `part-result` document."""

from __future__ import annotations

from typing import Any

from steelyard.core.json_codec import to_json
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.run.run_part import PartResult


def part_result_document(result: PartResult) -> dict[str, Any]:
    """The document of kind ``part-result``, as its schema says."""
    done = {trial.position for trial in result.trials}
    asked = [trial.position for trial in result.part.trials]
    return {
        "schema": SCHEMA,
        "kind": "part-result",
        "experiment": result.part.experiment.identifier,
        "attempt": result.part.attempt,
        "trials": [to_json(trial) for trial in result.trials],
        "undone": [position for position in asked if position not in done],
        "interrupted": result.interrupted,
        "provenance": dict(result.provenance),
    }
