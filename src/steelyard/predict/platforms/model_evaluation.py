"""How well models predict a table's own benchmarks: the experiment of Oliveira 2015, section 7.5.

Every benchmark in turn is the application, known on some hosts and predicted on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from steelyard.core.experiment_results import Caution
from steelyard.core.rng import derive_seed
from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.correlation_clusters import cluster_columns
from steelyard.predict.matrix_completion import complete_table
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.intervals import by_benchmarks
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question, hide, make_question
from steelyard.predict.platforms.refusal import (
    Limits,
    refuse_architecture,
    refuse_fit,
    refuse_question,
    refuse_width,
)


@dataclass(frozen=True)
class EvaluationDesign:
    """What is evaluated.

    Parameters
    ----------
    known_counts : tuple of int
        How many hosts are known; every count that is all but one leaves each host out in turn.
        Empty: all but one.
    subsets : int
        Sets of known hosts for each count: all there are, or so many at random.
    seed : int
    confidence : float
    limits : Limits
    predictors : int or None
    representatives : tuple of str
    applications : tuple of str
        Empty: every benchmark.
    """

    known_counts: tuple[int, ...] = ()
    subsets: int = 20
    seed: int = 1
    confidence: float = 0.9
    limits: Limits = field(default_factory=Limits)
    predictors: int | None = None
    representatives: tuple[str, ...] = ()
    applications: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One prediction beside what was measured.

    Parameters
    ----------
    application, host : int
        Places in the table.
    error_ratio : float
        |predicted - measured| / measured.
    doubt : float
        By what answers are ranked, least first: half the interval, or 1 - adjusted R²; NaN where
        the model has neither.
    refused : bool
    covered : bool or None
        Whether the interval holds the measured value; None without an interval.
    """

    application: int
    host: int
    error_ratio: float
    doubt: float
    refused: bool
    covered: bool | None


@dataclass(frozen=True)
class Evaluated:
    """All cases of one model with one count of known hosts."""

    model: PlatformModel
    known_hosts: int
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class PlatformEvaluation:
    """Every model's cases.

    Parameters
    ----------
    table : PlatformTable
    design : EvaluationDesign
    evaluated : tuple of Evaluated
        In the order of counts, then models.
    merges : array or None
        The tree of benchmarks, as `Clustering.merges`.
    cautions : tuple of Caution
    """

    kind: ClassVar[str] = "platform-evaluation"

    table: PlatformTable
    design: EvaluationDesign
    evaluated: tuple[Evaluated, ...]
    merges: Floats | None = None
    cautions: tuple[Caution, ...] = ()

    def of_largest_count(self) -> tuple[Evaluated, ...]:
        """Those with the most known hosts."""
        most = max((one.known_hosts for one in self.evaluated), default=0)
        return tuple(one for one in self.evaluated if one.known_hosts == most)


def evaluate_models(
    table: PlatformTable,
    models: Sequence[PlatformModel],
    design: EvaluationDesign,
    cautions: Sequence[Caution] = (),
) -> PlatformEvaluation:
    """Predict every application of the design by every model.

    Only measured values are judged. A model that cannot answer, such as one by clock rate where
    there is none, has no cases.
    """
    names = design.applications or table.benchmarks
    questions = [
        make_question(table, name, design.predictors, design.representatives) for name in names
    ]
    counts = design.known_counts or (len(table.hosts) - 1,)
    evaluated: list[Evaluated] = []
    for count in counts:
        cases: dict[str, list[Case]] = {model.name: [] for model in models}
        for known in host_sets(len(table.hosts), count, design.subsets, design.seed):
            for name, question in zip(names, questions, strict=True):
                for model in models:
                    found = judge(table, table.place_of(name), question, known, model, design)
                    cases[model.name].extend(found)
        evaluated += [Evaluated(model, count, tuple(cases[model.name])) for model in models]
    whole = complete_table(table.costs).values
    merges = cluster_columns(whole).merges if whole.shape[1] > 1 else None
    return PlatformEvaluation(table, design, tuple(evaluated), merges, tuple(cautions))


def host_sets(hosts: int, count: int, most: int, seed: int) -> Iterator[Truths]:
    """Sets of `count` known hosts: all of them, or `most` at random; each host left out once."""
    every = comb(hosts, count)
    if count == hosts - 1 or every <= most:
        chosen = list(combinations(range(hosts), count))
    else:
        draw = np.random.default_rng(derive_seed(seed, "known-hosts", count))
        chosen = [tuple(draw.permutation(hosts)[:count]) for _ in range(most)]
    for members in chosen:
        known = np.zeros(hosts, dtype=bool)
        known[list(members)] = True
        yield known


def judge(
    table: PlatformTable,
    application: int,
    whole: Question,
    known: Truths,
    model: PlatformModel,
    design: EvaluationDesign,
) -> list[Case]:
    """One model's cases for one application and one set of known hosts."""
    question = hide(whole, known)
    targets = np.flatnonzero(whole.known & ~known)
    unanswerable = model.needs == "clock" and question.clock is None
    if unanswerable or refuse_question(question, model) is not None:
        return []
    prediction = model.predict(question)
    refused_fit = refuse_fit(prediction, _fit_limits(model, design.limits)) is not None
    intervals = None
    if prediction.like_errors is not None:
        intervals = by_benchmarks(prediction, prediction.like_errors, design.confidence)
    cases: list[Case] = []
    for host in targets:
        cost, truth = float(prediction.costs[host]), float(whole.response[host])
        refused, covered = refused_fit, None
        if intervals is not None:
            refused = refused or (
                refuse_width(table, intervals, cost, int(host), design.limits) is not None
            )
            if np.isfinite(intervals.low[host]):
                covered = bool(intervals.low[host] <= truth <= intervals.high[host])
        refused = refused or refuse_architecture(table.attributes, question, int(host)) is not None
        half = float(intervals.half_width[host]) if intervals is not None else None
        cases.append(
            Case(
                application,
                int(host),
                error_ratio(table, application, cost, truth),
                _doubt(prediction, half),
                refused,
                covered,
            )
        )
    return cases


def _fit_limits(model: PlatformModel, limits: Limits) -> Limits:
    """A linear model's threshold holds for the thesis's models alone: others have no R²."""
    return limits if model.origin == "thesis" else Limits(limits.half_width_ratio)


def _doubt(prediction: Prediction, half: float | None) -> float:
    if half is not None:
        return half if np.isfinite(half) else float("inf")
    if prediction.adjusted_r_squared is not None:
        return 1 - prediction.adjusted_r_squared
    return float("nan")


def error_ratio(table: PlatformTable, application: int, cost: float, truth: float) -> float:
    """|predicted - measured| / measured, in the unit of measurement; at most 1e9."""
    if table.scale == "log":
        sign = -1.0 if table.higher_is_better[application] else 1.0
        return float(min(abs(np.expm1(np.clip(sign * (cost - truth), -700, 700))), 1e9))
    return float(min(abs(cost - truth) / abs(truth) if truth else 1e9, 1e9))
