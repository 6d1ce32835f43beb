"""Screening by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Rank the main effects and propose factors."""
    from steelyard.analysis.linear.box_cox import transformed
    from steelyard.analysis.screening.screened_effects import screening
    from steelyard.analysis.tables.trials_table import read_trials, with_cautions

    trials = read_trials(table, question)
    transform = question.extra.get("transform")
    values = trials.values if transform is None else transformed(trials.values, transform)
    unit = question.unit if transform is None else f"{transform} {question.unit}".strip()
    found = screening(trials.factors, trials.response, unit, values, question.confidence)
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="screening",
    description="Screening: which of many two-level factors deserve a full design.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options=model_options("low", "transform"),
)
