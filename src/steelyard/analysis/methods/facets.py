"""Facets by factors, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis


def analyze(table: Table, question: Question) -> Analysis:
    """The response at every combination of the factors, as panels."""
    from dataclasses import replace

    from steelyard.analysis.facets.facet_cells import Facets, facets
    from steelyard.analysis.tables.trials_table import choice_option, read_trials, with_cautions

    lines = question.extra.get("lines")
    names = (*question.factors, *((lines,) if lines else ()))
    if not 1 <= len(question.factors) <= 3:
        raise AnalysisError(
            "--method facets takes one to three factors, --factors X,COLUMNS,ROWS: those along the "
            "axis, beside and below each other. --option lines=FACTOR is a fourth.",
            field="--factors",
        )
    trials = read_trials(table, replace(question, factors=names))
    x, *others = trials.factors[: len(question.factors)]
    asked = Facets(x, *others, lines=trials.factors[-1] if lines else None)
    shows = choice_option(question.extra, "show", ("boxes", "means"))
    found = facets(
        asked,
        trials.response,
        question.unit,
        trials.values,
        question.confidence,
        means=shows == "means",
    )
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="facets",
    description="Facets: the response split by up to four factors, a panel for each combination.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "lines": "A factor with a line of means for each of its levels.",
        "show": "`boxes` (the default) or `means` with their intervals.",
        "low": "Levels that come first, as FACTOR=LEVEL.",
    },
)
