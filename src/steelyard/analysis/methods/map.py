"""The sensitivity map, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """The mean response over two parameters."""
    from steelyard.analysis.bias.sensitivity_map import sensitivity_map
    from steelyard.analysis.tables.trials_table import read_trials, with_cautions

    if len(question.factors) != 2:
        raise AnalysisError(
            "--method map takes two factors: --factors X,Y for the axes.", field="--factors"
        )
    trials = read_trials(table, question)
    x, y = trials.factors
    found = sensitivity_map(
        x, y, trials.response, question.unit, trials.values, question.confidence
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="map",
    description="A sensitivity map: the response over two parameters, as colour.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options=model_options("low"),
)
