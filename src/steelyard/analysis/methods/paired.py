"""Groups within blocks, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Compare the levels of one factor within blocks."""
    from steelyard.analysis.groups.independent_groups import GroupsQuestion
    from steelyard.analysis.groups.paired_groups import paired_groups
    from steelyard.analysis.intervals.corrections import CORRECTIONS
    from steelyard.analysis.tables.trials_table import choice_option, read_trials, with_cautions

    block = question.extra.get("block", "block")
    trials = read_trials(table, question, (block,))
    if len(question.factors) != 1 or block in question.factors:
        raise AnalysisError(
            "--method paired takes one factor, --factors A, and the column of the blocks, "
            "--option block=COLUMN.",
            field="--factors",
        )
    asked = GroupsQuestion(
        confidence=question.confidence,
        correction=choice_option(question.extra, "correction", tuple(CORRECTIONS)),
    )
    found = paired_groups(
        trials.factors[0],
        trials.factor(block),
        trials.response,
        question.unit,
        trials.values,
        asked,
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="paired",
    description="Groups compared within blocks: paired t, Wilcoxon, Friedman.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "block": "The column that says which rows go together; `block` unless given.",
        "correction": "Over pairs: `holm` (default), `benjamini-hochberg`, `bonferroni`, `none`.",
        "low": "Levels that come first, as FACTOR=LEVEL.",
    },
)
