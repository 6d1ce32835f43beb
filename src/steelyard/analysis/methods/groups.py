"""Independent groups, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """Compare the levels of the one factor that the question names."""
    from steelyard.analysis.groups.independent_groups import GroupsQuestion, independent_groups
    from steelyard.analysis.intervals.corrections import CORRECTIONS
    from steelyard.analysis.tables.trials_table import choice_option, read_trials, with_cautions

    trials = read_trials(table, question)
    if len(trials.factors) != 1:
        raise AnalysisError(
            "--method groups takes one factor, --factors A; several at once are the business of "
            "--method anova.",
            field="--factors",
        )
    extra = question.extra
    asked = GroupsQuestion(
        confidence=question.confidence,
        equal=choice_option(extra, "variance", ("own", "equal")) == "equal",
        every_pair=choice_option(extra, "pairs", ("first", "all")) == "all",
        correction=choice_option(extra, "correction", tuple(CORRECTIONS)),
    )
    found = independent_groups(
        trials.factors[0], trials.response, question.unit, trials.values, asked
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="groups",
    description="Groups compared: t or Welch, Mann-Whitney, Kruskal-Wallis, F, Levene.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "variance": "`own` (of each group, Welch's t, the default) or `equal` (Student's).",
        "pairs": "`first` (each with the first level, the default) or `all`.",
        "correction": "Over pairs: `holm` (default), `benjamini-hochberg`, `bonferroni`, `none`.",
        "low": "Levels that come first, as FACTOR=LEVEL.",
    },
)
