"""An application's times on hosts where it was not measured: estimates and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Truths
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.intervals import CostIntervals, cost_intervals
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question, hide, make_question
from steelyard.predict.platforms.refusal import (
    Limits,
    Refusal,
    refuse_architecture,
    refuse_fit,
    refuse_question,
    refuse_width,
)


@dataclass(frozen=True)
class Asked:
    """How a table is asked.

    Parameters
    ----------
    application : str
    confidence : float
    limits : Limits
    predictors : int or None
        The most that a model may choose.
    representatives : tuple of str
        Benchmarks that stand for the suite in the model ``clusters``.
    """

    application: str
    confidence: float = 0.9
    limits: Limits = field(default_factory=Limits)
    predictors: int | None = None
    representatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostAnswer:
    """What is said of one host.

    Parameters
    ----------
    host : str
    known : bool
        The application was measured there and that was used.
    measured : float or None
        The measured value, whether used or hidden.
    value : Estimate, Unbounded or None
        The predicted value; None where there is none at all.
    refusal : Refusal or None
        Why `value` is not to be relied on.
    """

    host: str
    known: bool
    measured: float | None
    value: Interval | None
    refusal: Refusal | None

    @property
    def refused(self) -> bool:
        """Whether the host has no answer."""
        return self.refusal is not None


@dataclass(frozen=True)
class PlatformAnswer:
    """The application on every host.

    Parameters
    ----------
    asked : Asked
    model : PlatformModel
    hosts : tuple of HostAnswer
        In the table's order.
    known_hosts : int
    predictors : tuple of str
        Benchmarks that the model chose.
    prediction : Prediction or None
        None where the question itself was refused.
    cautions : tuple of Caution
    """

    kind: ClassVar[str] = "platform-prediction"

    asked: Asked
    model: PlatformModel
    hosts: tuple[HostAnswer, ...]
    known_hosts: int
    predictors: tuple[str, ...]
    prediction: Prediction | None
    cautions: tuple[Caution, ...] = ()


def ask_table(
    table: PlatformTable,
    model: PlatformModel,
    asked: Asked,
    known: Truths | None = None,
    cautions: Sequence[Caution] = (),
) -> PlatformAnswer:
    """Predict the application on every host where it is not known.

    Parameters
    ----------
    table : PlatformTable
    model : PlatformModel
    asked : Asked
    known : array of bool, shape (h,), optional
        Hosts whose measured value may be used. Without it each measured host is predicted as if
        it had not been measured, from all others; hosts without a value from all that have one.
    cautions : sequence of Caution
        What was found about the table.
    """
    whole = make_question(table, asked.application, asked.predictors, asked.representatives)
    question = whole if known is None else hide(whole, known)
    answers, prediction = _answer(table, model, asked, question)
    if known is None:
        for host in np.flatnonzero(whole.known):
            others = whole.known.copy()
            others[host] = False
            answers[host] = _answer(table, model, asked, hide(whole, others))[0][host]
    chosen = () if prediction is None else prediction.predictors
    return PlatformAnswer(
        asked,
        model,
        tuple(answers),
        question.known_count,
        tuple(whole.benchmarks[column] for column in chosen),
        prediction,
        tuple(cautions),
    )


def _answer(
    table: PlatformTable, model: PlatformModel, asked: Asked, question: Question
) -> tuple[list[HostAnswer], Prediction | None]:
    """What one question says of every host."""
    place = table.place_of(asked.application)
    refusal = refuse_question(question, model)
    if refusal is not None:
        return [
            HostAnswer(host, bool(question.known[row]), _measured(table, row, place), None, refusal)
            for row, host in enumerate(table.hosts)
        ], None
    prediction = model.predict(question)
    intervals = cost_intervals(question, model, prediction, asked.confidence)
    of_fit = refuse_fit(prediction, asked.limits)
    answers: list[HostAnswer] = []
    for row, host in enumerate(table.hosts):
        known = bool(question.known[row])
        refusal = None
        if not known:
            refusal = (
                refuse_architecture(table.attributes, question, row)
                or of_fit
                or _refuse_by_width(table, intervals, prediction, row, asked)
            )
        value = None if known else _value(table, prediction, intervals, row, asked)
        answers.append(HostAnswer(host, known, _measured(table, row, place), value, refusal))
    return answers, prediction


def _refuse_by_width(
    table: PlatformTable,
    intervals: CostIntervals,
    prediction: Prediction,
    row: int,
    asked: Asked,
) -> Refusal | None:
    return refuse_width(table, intervals, float(prediction.costs[row]), row, asked.limits)


def _measured(table: PlatformTable, row: int, place: int) -> float | None:
    cost = float(table.costs[row, place])
    return table.natural(place, cost) if np.isfinite(cost) else None


def _value(
    table: PlatformTable, prediction: Prediction, intervals: CostIntervals, row: int, asked: Asked
) -> Interval:
    """The estimate in the application's own unit."""
    place = table.place_of(asked.application)
    cost = float(prediction.costs[row])
    bounds = [float(intervals.low[row]), float(intervals.high[row])]
    if not np.isfinite(bounds).all() or (max(map(abs, bounds)) > 500 and table.scale == "log"):
        return Unbounded(
            table.natural(place, cost) if abs(cost) < 500 or table.scale == "linear" else None,
            asked.confidence,
            intervals.method,
            intervals.reason or "unbounded",
            intervals.explanation or "Nothing bounds the prediction.",
        )
    low, high = sorted(table.natural(place, bound) for bound in bounds)
    return Estimate(table.natural(place, cost), low, high, asked.confidence, intervals.method)
