"""The document of any answer, by its kind."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.results import Answer
from steelyard.core.model import Experiment


def answer_kind_document(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """The document of kind ``comparison`` or ``measurement``, as the answer is one."""
    if answer.kind == "comparison":
        from steelyard.report.json.comparison import comparison_document

        return comparison_document(answer, experiment)
    from steelyard.report.json.measurement import measurement_document

    return measurement_document(answer, experiment)
