"""Measurement bias over setups, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Compare two variants in every setup."""
    from steelyard.analysis.bias.measurement_bias import SetupColumns, measurement_bias
    from steelyard.analysis.tables.trials_table import read_trials, with_cautions

    extra = question.extra
    parts = [name.strip() for name in extra.get("setup", "setup").split(",") if name.strip()]
    program = extra.get("program")
    groups = [*parts, *([program] if program else [])]
    if len(question.factors) != 1 or set(groups) & set(question.factors):
        raise AnalysisError(
            "--method bias takes one factor with the two variants, --factors VARIANT, and what "
            "makes up the setup, --option setup=COLUMN,COLUMN.",
            field="--factors",
        )
    for name in parts:
        table.column(name, "--option setup")
    if program:
        table.column(program, "--option program")
    order = extra.get("order")
    also = {} if order is None else {order: "--option order"}
    trials = read_trials(table, question, groups, also)
    sequence = None if order is None else table.numbers(order, "--option order")[trials.rows]
    columns = SetupColumns(
        variant=trials.factors[0],
        parts=tuple(trials.factor(name) for name in parts),
        program=trials.factor(program) if program else None,
        marks=tuple(m.strip() for m in extra.get("marks", "default,alphabetical").split(",")),
        order=sequence,
    )
    found = measurement_bias(
        columns, trials.response, question.unit, trials.values, question.confidence
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="bias",
    description="Measurement bias: the ratio of two variants over setups, and whether it flips.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "setup": "What makes up a setup: columns with commas between; `setup` unless given.",
        "program": "The column of programs, where there is a suite of them.",
        "marks": "Levels to mark in the picture; `default,alphabetical` unless given.",
        "low": "The baseline, as FACTOR=LEVEL.",
        "order": "The column that says when a row was made: k-th trials of a setup are pairs.",
    },
)
