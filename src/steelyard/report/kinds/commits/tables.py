"""The tables of predictions about commits."""

from __future__ import annotations

from math import isnan

from steelyard.core.estimate import Estimate, Interval
from steelyard.predict.commits.commit_answers import BenchmarkAnswer, CommitAnswer
from steelyard.predict.commits.pair_rows import ComparedPair
from steelyard.predict.commits.predictor import Predictor
from steelyard.predict.commits.predictor_evaluation import CommitEvaluation
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

NONE = "–"
MOST_ROWS = 60


def percent(ratio: float | None, digits: int = 0) -> str:
    """A ratio in percent, or a dash."""
    return NONE if ratio is None else f"{100 * ratio:.{digits}f} %"


def bounds(value: Interval) -> str:
    """A share with its bounds in percent, or a dash."""
    if not isinstance(value, Estimate):
        return NONE
    return f"{percent(value.estimate)} ({percent(value.low)} … {percent(value.high)})"


def answers_table(answer: CommitAnswer) -> Table:
    """Each benchmark with its probability and what to do; those to run come first."""
    ordered = sorted(answer.benchmarks, key=lambda one: (not one.run, -one.probability.estimate))
    rows = [_answer_row(one) for one in ordered[:MOST_ROWS]]
    headers = ("benchmark", "revision", "probability", "answer", "because")
    table = Table(headers, tuple(rows), frozenset({0, 1, 3, 4}), (4,))
    return table if any(row[1] != rows[0][1] for row in rows) else table.without(1)


def _answer_row(one: BenchmarkAnswer) -> tuple[str, ...]:
    return (
        one_line(one.benchmark),
        one_line(one.unknown),
        bounds(one.probability),
        "run" if one.run else "skip",
        one_line(one.reasons[0]),
    )


def indicators_table(found: ComparedPair) -> Table:
    """The indicators, a column a benchmark."""
    table = found.table
    rows = [
        (name, *(NONE if isnan(value) else f"{value:.4g}" for value in table.values[:, column]))
        for column, name in enumerate(table.indicators)
    ]
    headers = ("indicator", *(one_line(name) for name in table.benchmarks))
    return Table(headers, tuple(rows), frozenset({0}))


def thresholds_table(predictor: Predictor) -> Table:
    """The thresholds of Algorithm 1."""
    rows = [
        (one_line(name), f"{threshold:.4g}")
        for name, threshold in sorted(predictor.thresholds.by_indicator.items())
    ]
    return Table(("indicator", "run at"), tuple(rows), frozenset({0}))


def models_table(predictor: Predictor) -> Table:
    """The models compared on revisions newer than those learnt from."""
    rows = [
        (
            trust.model,
            "yes" if trust.model == predictor.model.name else "",
            NONE if trust.answered == 0 else f"{trust.log_loss:.4f}",
            str(trust.answered),
        )
        for trust in predictor.trusts
    ]
    return Table(("model", "chosen", "log loss", "pairs"), tuple(rows), frozenset({0, 1}))


def scores_table(found: CommitEvaluation) -> Table:
    """Each design and model with its rates: micro averages with bounds, macro averages beside."""
    rows = [
        (
            f"{score.design} {score.part}".strip(),
            score.model,
            str(score.learnt),
            f"{score.rates.all.caught} of {score.rates.all.hits}",
            bounds(score.rates.all.hit_rate),
            percent(score.rates.hit_rate_macro),
            bounds(score.rates.all.dismiss_rate),
            percent(score.rates.dismiss_rate_macro),
            str(score.refused) if score.refused else NONE,
        )
        for score in found.scores
    ]
    headers = (
        "design", "model", "learnt", "caught", "hit rate", "hit rate, macro", "dismiss rate",
        "dismiss rate, macro", "refused",
    )  # fmt: skip
    return Table(headers, tuple(rows), frozenset({0, 1}), (8, 2, 3))
