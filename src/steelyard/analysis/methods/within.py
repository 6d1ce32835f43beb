"""Within-subject analysis of variance, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Compare conditions that every subject was measured under."""
    from steelyard.analysis.linear.box_cox import transformed
    from steelyard.analysis.repeated.within_subject import within_subject
    from steelyard.analysis.tables.trials_table import read_trials, with_cautions

    subject = question.extra.get("subject", "program")
    trials = read_trials(table, question, (subject,))
    factors = [factor for factor in trials.factors if factor.name in question.factors]
    transform = question.extra.get("transform")
    values = trials.values if transform is None else transformed(trials.values, transform)
    unit = question.unit if transform is None else f"{transform} {question.unit}".strip()
    found = within_subject(
        trials.factor(subject), factors, trials.response, unit, values, question.confidence
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="within",
    description="Within-subject analysis of variance: conditions that every program was run under.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "subject": "The column of what was measured under every condition; `program`.",
        **model_options("transform", "low"),
    },
)
