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
    from steelyard.analysis.screening.screened_effects import relative_to_groups, screening
    from steelyard.analysis.tables.trials_table import read_trials, with_cautions

    within = question.extra.get("within")
    trials = read_trials(table, question, () if within is None else (within,))
    factors, values, degrees = trials.factors, trials.values, 0
    if within is not None:
        *factors, group = factors
        values = relative_to_groups(values, group)
        degrees = len(group.levels) - 1
    transform = question.extra.get("transform")
    values = values if transform is None else transformed(values, transform)
    unit = question.unit if transform is None else f"{transform} {question.unit}".strip()
    found = screening(factors, trials.response, unit, values, question.confidence, degrees)
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="screening",
    description="Screening: which of many two-level factors deserve a full design.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options=model_options("low", "transform", "within"),
)
