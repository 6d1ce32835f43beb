"""How good predictors are on the pairs of a table (Oliveira 2015, section 6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Indices, Truths
from steelyard.predict.commits.candidate_models import model_called
from steelyard.predict.commits.evaluation_design import (
    CHOSEN,
    MOST_PARTS,
    EvaluationDesign,
    cautions,
)
from steelyard.predict.commits.pair_table import PairTable, check_learnable
from steelyard.predict.commits.predictor import learn_predictor
from steelyard.predict.commits.rates import Rates, rate

_Name = TypeVar("_Name", str, tuple[str, str])
_MOST_DISTANCES = 15


@dataclass(frozen=True)
class Score:
    """What one way of learning came to.

    Parameters
    ----------
    design, model : str
    part : str
        What varies in the design: the number of folds, the distance, the projects; empty for
        others.
    learnt : int
        Rows that were learnt from; the median over folds.
    rates : Rates
    refused : int
        Rows that were run because nothing could be learnt for them.
    """

    design: str
    model: str
    part: str
    learnt: int
    rates: Rates
    refused: int


@dataclass(frozen=True)
class CommitEvaluation:
    """The scores of all designs."""

    table: PairTable
    design: EvaluationDesign
    scores: tuple[Score, ...]
    cautions: tuple[Caution, ...]
    kind: str = "commit-evaluation"


def evaluate_table(table: PairTable, design: EvaluationDesign) -> CommitEvaluation:
    """Learn from parts of a table and predict the others.

    Raises
    ------
    AnalysisError
        The table has no hit, or no neutral row.
    """
    check_learnable(table)
    decided = table.decided()
    scores: list[Score] = []
    for name in design.designs:
        for model in design.models:
            scores += _SCORERS[name](decided, design, model)
    return CommitEvaluation(table, design, tuple(scores), tuple(cautions(table, decided, design)))


@dataclass
class _Answers:
    """Answers to rows of one table, from several predictors."""

    run: Truths
    answered: Truths
    refused: int
    learnt: list[int]

    @staticmethod
    def none_yet(table: PairTable) -> _Answers:
        return _Answers(np.zeros(len(table), bool), np.zeros(len(table), bool), 0, [])


def _answer(
    answers: _Answers, table: PairTable, parts: tuple[Indices, Indices], design: tuple[float, str]
) -> None:
    """Learn from the rows at the first places and answer those at the second."""
    learnt, asked = parts
    hit_rate, name = design
    model = None if name == CHOSEN else model_called(name)
    try:
        predictor = learn_predictor(table.at(learnt), hit_rate, model)
        answers.run[asked] = predictor.run(table.at(asked))
    except AnalysisError:
        # Who refuses to answer has everything run.
        answers.run[asked] = True
        answers.refused += len(asked)
    answers.answered[asked] = True
    answers.learnt.append(len(learnt))


def _score(table: PairTable, answers: _Answers, design: str, model: str, part: str = "") -> Score:
    answered = answers.answered
    rates = rate(table.rows(answered), answers.run[answered])
    learnt = int(np.median(answers.learnt)) if answers.learnt else 0
    return Score(design, model, part, learnt, rates, answers.refused)


def _all_learnt(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    answers = _Answers.none_yet(table)
    for rows in _by_benchmark(table, design.seed):
        _answer(answers, table, (rows, rows), (design.hit_rate, model))
    return [_score(table, answers, "all-learnt", model)]


def _folds_by_benchmark(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    answers = _Answers.none_yet(table)
    for rows in _by_benchmark(table, design.seed):
        for parts in _folds(rows, design.folds, design.seed):
            _answer(answers, table, parts, (design.hit_rate, model))
    return [_score(table, answers, "folds-by-benchmark", model)]


def _folds_of_all(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    return [_in_folds(table, design, model, "folds", design.folds)]


def _learnt_size(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    counts = range(2, design.folds + 1)
    return [_in_folds(table, design, model, "learnt-size", count) for count in counts]


def _in_folds(
    table: PairTable, design: EvaluationDesign, model: str, name: str, count: int
) -> Score:
    answers = _Answers.none_yet(table)
    for parts in _folds(np.arange(len(table)), count, design.seed):
        _answer(answers, table, parts, (design.hit_rate, model))
    return _score(table, answers, name, model, f"{count} folds")


def oldest(table: PairTable, ratio: float) -> Truths:
    """The rows of the oldest revisions: as many revisions as the share of all."""
    revisions = np.unique(table.order)
    count = min(max(1, round(ratio * len(revisions))), len(revisions) - 1)
    return table.order < revisions[count] if len(revisions) > 1 else np.zeros(len(table), bool)


def _chronologically(table: PairTable, design: EvaluationDesign, model: str) -> _Answers:
    answers = _Answers.none_yet(table)
    learnt = oldest(table, design.learnt_ratio)
    parts = np.flatnonzero(learnt), np.flatnonzero(~learnt)
    _answer(answers, table, parts, (design.hit_rate, model))
    return answers


def _chronological(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    answers = _chronologically(table, design, model)
    return [_score(table, answers, "chronological", model)]


def _distance(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    """The chronological answers by the number of commits between the revisions of a pair."""
    answers = _chronologically(table, design, model)
    steps = np.unique(table.distance[answers.answered & ~np.isnan(table.distance)])
    if len(steps) < 2:
        return []
    scores: list[Score] = []
    for step in steps[:_MOST_DISTANCES].tolist():
        here = answers.answered & (table.distance == step)
        part = _Answers(answers.run, here, 0, answers.learnt)
        scores.append(_score(table, part, "distance", model, f"{step:g} commits"))
    return scores


def _across(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    """Learn from one project, predict another."""
    rows_of = _grouped(table.projects)
    projects = list(rows_of)
    others = len(projects) - 1
    scores: list[Score] = []
    for pair in _drawn(len(projects) * others, design.seed) if others else ():
        source, target = divmod(pair, others)
        names = projects[source], projects[target + (target >= source)]
        answers = _Answers.none_yet(table)
        parts = rows_of[names[0]], rows_of[names[1]]
        _answer(answers, table, parts, (design.hit_rate, model))
        scores.append(_score(table, answers, "across-projects", model, " to ".join(names)))
    return scores


def _grouped(names: Iterable[_Name]) -> dict[_Name, Indices]:
    """The places of each name, in the order of the names."""
    places: dict[_Name, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return {name: np.array(places[name], np.intp) for name in sorted(places)}


def _drawn(count: int, seed: int) -> list[int]:
    """The first `count` numbers, or so many of them as are drawn."""
    if count <= MOST_PARTS:
        return list(range(count))
    drawn = np.random.default_rng(seed).choice(count, MOST_PARTS, replace=False)
    return sorted(drawn.tolist())


def _by_benchmark(table: PairTable, seed: int) -> Iterator[Indices]:
    groups = list(_grouped(zip(table.projects, table.benchmarks, strict=True)).values())
    for number in _drawn(len(groups), seed):
        yield groups[number]


def _folds(rows: Indices, count: int, seed: int) -> Iterator[tuple[Indices, Indices]]:
    """Some rows without a random part, and that part; the parts are of nearly the same size."""
    places: Indices = np.random.default_rng(seed).permutation(rows)
    for number in range(min(count, len(places))):
        others = np.delete(places, slice(number, None, count))
        yield np.sort(others), np.sort(places[number::count])


_SCORERS = {
    "all-learnt": _all_learnt,
    "folds-by-benchmark": _folds_by_benchmark,
    "folds": _folds_of_all,
    "learnt-size": _learnt_size,
    "chronological": _chronological,
    "distance": _distance,
    "across-projects": _across,
}
