"""The linear model with interactions, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options

if TYPE_CHECKING:
    from steelyard.analysis.linear.model_matrix import Coding
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Fit the model that the question asks for."""
    from steelyard.analysis.linear.linear_model import LinearQuestion, linear_model
    from steelyard.analysis.tables.trials_table import (
        choice_option,
        number_option,
        read_trials,
        whole_option,
        with_cautions,
    )

    extra = question.extra
    order = extra.get("order")
    also = {} if order is None else {order: "--option order"}
    trials = read_trials(table, question, (), also)
    codings: dict[str, Coding] = {"coded": "coded", "treatment": "treatment"}
    variances = {"auto": None, "equal": False, "robust": True}
    sequence = None if order is None else table.numbers(order, "--option order")[trials.rows]
    asked = LinearQuestion(
        order=whole_option(extra, "interactions", len(trials.factors), least=1),
        coding=codings[choice_option(extra, "coding", tuple(codings))],
        confidence=question.confidence,
        transform=extra.get("transform"),
        change=number_option(extra, "change"),
        power=number_option(extra, "power"),
        sequence=sequence,
        robust=variances[choice_option(extra, "variance", tuple(variances))],
    )
    found = linear_model(
        trials.factors, trials.covariates, trials.response, question.unit, trials.values, asked
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="anova",
    description="A linear model with interactions: effects, sums of squares, R squared, power.",
    reads="trials",
    analyze=analyze,
    needs=("response",),
    options={
        **model_options("interactions", "coding", "low", "covariates", "transform"),
        "variance": "`equal` (of all rows), `robust` (each point its own), `auto` as tests say.",
        "change": "The change of the response that power is told for; 1 % of its mean.",
        "order": "The column that says when a row was made; tests whether rows depend on others.",
        "power": "Tell how many replicates find that change with this power, such as 0.8.",
    },
)
