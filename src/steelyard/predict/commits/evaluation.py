"""How good predictors are on the pairs of a table (Oliveira 2015, section 6.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Indices, Truths
from steelyard.predict.commits.models import model_called
from steelyard.predict.commits.pair_table import PairTable, check_learnable
from steelyard.predict.commits.predictor import learn_predictor
from steelyard.predict.commits.rates import Rates, rate

# What Tables 6.3 and 6.4 and Figures 6.4 and 6.5 are of, and the one that counts: chronological.
DESIGNS = (
    "all-learnt", "folds-by-benchmark", "folds", "learnt-size", "chronological", "distance",
    "across-projects",
)  # fmt: skip
CHOSEN = "chosen"
_MOST_DISTANCES = 15


@dataclass(frozen=True)
class EvaluationDesign:
    """What is evaluated.

    Parameters
    ----------
    designs : tuple of str
        Of `DESIGNS`.
    models : tuple of str
        Names of models, or ``chosen``: the one that the learnt rows speak for.
    folds : int
        At least 2.
    learnt_ratio : float
        The share of revisions, from the oldest, that the chronological design learns from.
    hit_rate : float
        The wanted one.
    seed : int
        Of the folds.
    """

    designs: tuple[str, ...] = DESIGNS
    models: tuple[str, ...] = ("thresholds", CHOSEN)
    folds: int = 10
    learnt_ratio: float = 0.25
    hit_rate: float = 0.95
    seed: int = 1


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
    return CommitEvaluation(table, design, tuple(scores), tuple(_cautions(table, decided)))


def _cautions(table: PairTable, decided: PairTable) -> Iterator[Caution]:
    hits = int(decided.hits.sum())
    if hits < 100:
        yield Caution(
            "few-hits",
            f"The table has {hits} changes. Bounds of a hit rate are wide below 100.",
        )
    undecided = len(table) - len(decided)
    if undecided:
        yield Caution("undecided", f"{undecided} of {len(table)} rows have no label: left out.")


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
    answers: _Answers, table: PairTable, parts: tuple[Truths, Truths], design: tuple[float, str]
) -> None:
    """Learn from the rows of the first part and answer those of the second."""
    learnt, asked = parts
    hit_rate, name = design
    model = None if name == CHOSEN else model_called(name)
    try:
        predictor = learn_predictor(table.rows(learnt), hit_rate, model)
        answers.run[asked] = predictor.run(table.rows(asked))
    except AnalysisError:
        # Who refuses to answer has everything run.
        answers.run[asked] = True
        answers.refused += int(asked.sum())
    answers.answered |= asked
    answers.learnt.append(int(learnt.sum()))


def _score(table: PairTable, answers: _Answers, design: str, model: str, part: str = "") -> Score:
    answered = answers.answered
    rates = rate(table.rows(answered), answers.run[answered])
    learnt = int(np.median(answers.learnt)) if answers.learnt else 0
    return Score(design, model, part, learnt, rates, answers.refused)


def _all_learnt(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    answers = _Answers.none_yet(table)
    for rows in _by_benchmark(table):
        _answer(answers, table, (rows, rows), (design.hit_rate, model))
    return [_score(table, answers, "all-learnt", model)]


def _folds_by_benchmark(table: PairTable, design: EvaluationDesign, model: str) -> list[Score]:
    answers = _Answers.none_yet(table)
    for rows in _by_benchmark(table):
        for fold in _folds(rows, design.folds, design.seed):
            _answer(answers, table, (rows & ~fold, fold), (design.hit_rate, model))
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
    everything = np.ones(len(table), bool)
    for fold in _folds(everything, count, design.seed):
        _answer(answers, table, (~fold, fold), (design.hit_rate, model))
    return _score(table, answers, name, model, f"{count} folds")


def oldest(table: PairTable, ratio: float) -> Truths:
    """The rows of the oldest revisions: as many revisions as the share of all."""
    revisions = np.unique(table.order)
    count = min(max(1, round(ratio * len(revisions))), len(revisions) - 1)
    return table.order < revisions[count] if len(revisions) > 1 else np.zeros(len(table), bool)


def _chronologically(table: PairTable, design: EvaluationDesign, model: str) -> _Answers:
    answers = _Answers.none_yet(table)
    learnt = oldest(table, design.learnt_ratio)
    _answer(answers, table, (learnt, ~learnt), (design.hit_rate, model))
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
    projects = sorted(set(table.projects))
    scores: list[Score] = []
    for source in projects:
        for target in projects:
            if source == target:
                continue
            answers = _Answers.none_yet(table)
            parts = _rows_of(table.projects, source), _rows_of(table.projects, target)
            _answer(answers, table, parts, (design.hit_rate, model))
            scores.append(_score(table, answers, "across-projects", model, f"{source} to {target}"))
    return scores


def _rows_of(column: Sequence[str], name: str) -> Truths:
    return np.array([text == name for text in column], bool)


def _by_benchmark(table: PairTable) -> Iterator[Truths]:
    places = list(zip(table.projects, table.benchmarks, strict=True))
    for place in sorted(set(places)):
        yield np.array([one == place for one in places], bool)


def _folds(rows: Truths, count: int, seed: int) -> Iterator[Truths]:
    """Random parts of some rows, of nearly the same size; empty ones are left out."""
    places: Indices = np.random.default_rng(seed).permutation(np.flatnonzero(rows))
    for number in range(count):
        fold = np.zeros(len(rows), bool)
        fold[places[number::count]] = True
        if fold.any():
            yield fold


_SCORERS = {
    "all-learnt": _all_learnt,
    "folds-by-benchmark": _folds_by_benchmark,
    "folds": _folds_of_all,
    "learnt-size": _learnt_size,
    "chronological": _chronological,
    "distance": _distance,
    "across-projects": _across,
}
