"""Effects on each program of a suite, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Fit the model of each program, and compare how much they vary."""
    from steelyard.analysis.programs.program_effects import program_effects
    from steelyard.analysis.tables.trials_table import read_trials, with_cautions

    name = question.extra.get("program", "program")
    trials = read_trials(table, question, (name,))
    factors = [f for f in trials.factors if f.name in question.factors and f.name != name]
    if not factors:
        raise AnalysisError(
            f"{table.source} varies nothing but {name}: --method programs takes --factors A,B,...",
            field="--factors",
        )
    found = program_effects(
        trials.factor(name), factors, trials.response, trials.values, question.confidence
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="programs",
    description="Effects on each program of a suite: in percent of its mean, and on its variation.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "program": "The column that names the program; `program`.",
        **model_options("low"),
    },
)
