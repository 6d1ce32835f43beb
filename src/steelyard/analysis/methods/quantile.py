"""Quantile regression, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.model_options import model_options

if TYPE_CHECKING:
    from steelyard.analysis.quantile.effect_intervals import Intervals
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.analysis.tables.table_analysis import Analysis

# Oliveira (2015), section 3.4: the deciles, and the 99th percentile where there are rows for it.
_DECILES = tuple(k / 10 for k in range(1, 10))
_ROWS_FOR_LAST = 1000


def analyze(table: Table, question: Question) -> Analysis:
    """Fit the quantiles that the question asks for."""
    from steelyard.analysis.linear.model_matrix import model_matrix
    from steelyard.analysis.quantile.effect_intervals import QuantileQuestion
    from steelyard.analysis.quantile.quantile_regression import quantile_regression
    from steelyard.analysis.tables.trials_table import (
        choice_option,
        read_trials,
        whole_option,
        with_cautions,
    )

    cluster = question.extra.get("cluster")
    trials = read_trials(table, question, () if cluster is None else (cluster,))
    factors = [factor for factor in trials.factors if factor.name in question.factors]
    order = whole_option(question.extra, "interactions", len(factors), least=1)
    coding = choice_option(question.extra, "coding", ("coded", "treatment"))
    intervals: dict[str, Intervals] = {
        "auto": "auto", "rank": "rank", "rank-iid": "rank-iid", "points": "points",
        "sandwich": "sandwich", "cluster": "cluster",
    }  # fmt: skip
    quantiles = question.quantiles
    if not quantiles:
        quantiles = (*_DECILES, 0.99) if len(trials.values) >= _ROWS_FOR_LAST else _DECILES
    model = model_matrix(
        factors, trials.covariates, order, "coded" if coding == "coded" else "treatment"
    )
    asked = QuantileQuestion(
        quantiles=quantiles,
        confidence=question.confidence,
        intervals=intervals[choice_option(question.extra, "intervals", tuple(intervals))],
        cluster=None if cluster is None else trials.factor(cluster).codes,
        seed=question.seed,
    )
    found = quantile_regression(model, trials.response, question.unit, trials.values, asked)
    return with_cautions(found, trials.cautions)


EXTENSION = Method(
    name="quantile",
    uses=("seed", "quantiles"),
    description="Quantile regression: effects on the fast, the middle and the slow runs.",
    reads="trials",
    analyze=analyze,
    needs=("response",),
    options={
        **model_options("interactions", "coding", "low", "covariates"),
        "cluster": "The column that says which rows belong together, such as the execution.",
        "intervals": "`rank`, `rank-iid`, `points`, `sandwich`, `cluster`; `auto` by the data.",
    },
)
