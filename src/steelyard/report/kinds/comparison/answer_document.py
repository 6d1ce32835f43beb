"""The document of any answer, by its kind."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_results import Experiment


def answer_kind_document(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """The document of kind ``comparison`` or ``measurement``, as the answer is one."""
    if answer.kind == "comparison":
        from steelyard.report.kinds.comparison.document import comparison_document

        return comparison_document(answer, experiment)
    from steelyard.report.kinds.comparison.measurement_document import measurement_document

    return measurement_document(answer, experiment)
