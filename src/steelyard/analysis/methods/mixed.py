"""The mixed model of nested repetition, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Fixed factors, and a random intercept for each unit of the named levels."""
    from steelyard.analysis.linear.box_cox import transformed
    from steelyard.analysis.linear.model_matrix import model_matrix
    from steelyard.analysis.repeated.mixed_model import mixed_model
    from steelyard.analysis.tables.trials_table import read_trials, whole_option, with_cautions

    names = [n.strip() for n in question.extra.get("levels", "").split(",") if n.strip()]
    if not names or set(names) & set(question.factors):
        raise AnalysisError(
            "--method mixed takes --option levels=COLUMN,COLUMN: the repetition levels above the "
            "rows, highest first, such as build,execution; they are none of --factors.",
            field="--option levels",
        )
    trials = read_trials(table, question, names)
    factors = [factor for factor in trials.factors if factor.name in question.factors]
    order = whole_option(question.extra, "interactions", len(factors), least=1)
    transform = question.extra.get("transform")
    values = trials.values if transform is None else transformed(trials.values, transform)
    found = mixed_model(
        model_matrix(factors, trials.covariates, order, "coded"),
        [trials.factor(name) for name in names],
        trials.response,
        question.unit if transform is None else f"{transform} {question.unit}".strip(),
        values,
        question.confidence,
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="mixed",
    description="A mixed model: factors, with builds and executions that vary of themselves.",
    reads="trials",
    analyze=analyze,
    needs=("response",),
    options={
        "levels": "The repetition levels above the rows, highest first: build,execution.",
        **model_options("interactions", "covariates", "low", "transform"),
    },
)
