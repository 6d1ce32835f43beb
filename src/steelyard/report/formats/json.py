"""The document that `--json` writes."""

from __future__ import annotations

import json

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_results import Experiment
from steelyard.report.formats import ReportFormat
from steelyard.report.kinds.comparison.answer_document import answer_kind_document


def render(answer: Answer, experiment: Experiment) -> str:
    """The document of the answer's kind."""
    document = answer_kind_document(answer, experiment)
    return json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


EXTENSION = ReportFormat("json", ".json", "the document that --json writes", False, render)
