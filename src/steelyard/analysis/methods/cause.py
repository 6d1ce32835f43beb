"""Causal analysis, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.cause.causal_analysis import Cause, Terms
    from steelyard.analysis.tables.data_columns import Table

WITHOUT, WITH = "without", "with"


def analyze(table: Table, question: Question) -> Cause:
    """Whether the effect of a factor goes with an intervention."""
    from dataclasses import replace

    from steelyard.analysis.cause.causal_analysis import Names, causal_analysis
    from steelyard.analysis.cause.cells import complete_cells
    from steelyard.analysis.linear.table_factor import factor_of
    from steelyard.analysis.tables.trials_table import read_trials

    if len(question.factors) != 2:
        raise AnalysisError(
            "--method cause takes two factors: --factors FACTOR,INTERVENTION.", field="--factors"
        )
    extra = dict(question.extra)
    carrier, block = extra.get("intermediate"), extra.get("block", "block")
    if set(factor_of(table, question.factors[1]).levels) == {WITHOUT, WITH}:
        extra.setdefault("low", f"{question.factors[1]}={WITHOUT}")
    if "block" in extra:
        table.column(block, "--option block")
    groups = (block,) if block in table.columns else ()
    also = {} if carrier is None else {carrier: "--option intermediate"}
    trials = read_trials(table, replace(question, extra=extra), groups, also)
    factor, arm = (trials.factor(name) for name in question.factors)
    columns = {trials.response: trials.values}
    if carrier is not None:
        columns[carrier] = table.numbers(carrier, "--option intermediate")[trials.rows]
    blocks = trials.factor(block).codes if groups else None
    cells = complete_cells(factor, arm, blocks, columns)
    names = Names(
        factor.name, arm.name, trials.response, question.unit, cells.levels,
        (arm.levels[0], arm.levels[1]), carrier,
    )  # fmt: skip
    found = causal_analysis(
        names,
        cells.columns[trials.response],
        _terms(question),
        None if carrier is None else cells.columns[carrier],
    )
    return replace(found, cautions=(*trials.cautions, *cells.cautions, *found.cautions))


def _terms(question: Question) -> Terms:
    from steelyard.analysis.cause.explanation_verdict import MARGIN, TOLERANCE, Terms
    from steelyard.analysis.tables.trials_table import number_option

    tolerance = number_option(question.extra, "tolerance")
    margin = number_option(question.extra, "margin")
    for name, value in (("tolerance", tolerance), ("margin", margin)):
        if value is not None and not 0 <= value < 1:
            raise AnalysisError(
                f"--option {name} takes a share from 0 to 1; it got {value:g}.",
                field=f"--option {name}",
            )
    return Terms(
        confidence=question.confidence,
        tolerance=TOLERANCE if tolerance is None else tolerance,
        margin=MARGIN if margin is None else margin,
        seed=question.seed,
    )


EXTENSION = Method(
    name="cause",
    uses=("seed",),
    description="Causal analysis: whether the effect of a factor goes with an intervention.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "block": "The column that says which rows were measured together; `block` if there is one.",
        "intermediate": "The column of what is said to carry the effect.",
        "low": "The level without the intervention, as INTERVENTION=LEVEL.",
        "margin": "The spread of levels below which there is nothing to explain; 0.01 of the mean.",
        "tolerance": "The share of the variance that may be left; 0.25.",
    },
)
