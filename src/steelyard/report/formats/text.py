"""What measure and compare print."""

from __future__ import annotations

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_results import Experiment
from steelyard.report.formats import ReportFormat
from steelyard.report.kinds.comparison.text import plain_text


def render(answer: Answer, experiment: Experiment) -> str:
    """The answer as plain text."""
    return plain_text(answer)


def render_within(answer: Answer, experiment: Experiment, width: int) -> str:
    """The answer as plain text in `width` columns."""
    return plain_text(answer, width)


EXTENSION = ReportFormat(
    "text", ".txt", "what measure and compare print", False, render, render_within
)
