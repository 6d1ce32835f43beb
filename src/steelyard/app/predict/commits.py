"""The questions of `steelyard predict commits`: read pairs, learn, answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.app.predict.commit_pairs import PairOptions, read_pairs, read_predictor_pairs
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.predict.commits.commit_answers import CommitAnswer
    from steelyard.predict.commits.evaluation_design import EvaluationDesign
    from steelyard.predict.commits.planning import CommitPlan
    from steelyard.predict.commits.predictor import Predictor
    from steelyard.predict.commits.predictor_evaluation import CommitEvaluation


def learn(path: str, options: PairOptions, hit_rate: float, model: str | None) -> Predictor:
    """Learn from the pairs of a file."""
    from steelyard.predict.commits.candidate_models import model_called
    from steelyard.predict.commits.predictor import learn_predictor

    named = None if model is None else model_called(model)
    return learn_predictor(read_pairs(path, options), hit_rate, named)


def kept_predictor(path: str, hit_rate: float | None) -> Predictor:
    """Learn again from what a kept predictor was learnt from; the same pairs, the same answer."""
    from steelyard.predict.commits.candidate_models import model_called
    from steelyard.predict.commits.predictor import learn_predictor

    table, wanted, model = read_predictor_pairs(path)
    named = None if model is None else model_called(model)
    return learn_predictor(table, wanted if hit_rate is None else hit_rate, named)


def ask_pairs(predictor: Predictor, path: str, options: PairOptions) -> CommitAnswer:
    """Answer the pairs of a file; labels that it may have are not looked at."""
    from steelyard.predict.commits.commit_answers import ask_predictor

    return ask_predictor(predictor, read_pairs(path, options))


def plan(answer: CommitAnswer, budget_s: float | None) -> CommitPlan:
    """Choose what to run of what was asked."""
    from steelyard.predict.commits.planning import plan_runs

    return plan_runs(answer, budget_s)


def weights(answer: CommitAnswer, benchmark: str | None) -> dict[str, float]:
    """Weights of revisions, as `steelyard history bisect --weights` reads them.

    Raises
    ------
    UsageError
        Nothing was asked about the benchmark.
    """
    from steelyard.predict.commits.planning import revision_weights

    found = dict(revision_weights(answer, benchmark))
    if not found:
        known = ", ".join(dict.fromkeys(one.benchmark for one in answer.benchmarks))
        raise UsageError(
            f"--weights-of {benchmark}: nothing is asked about it. Asked: {known}.",
            field="--weights-of",
        )
    return found


def evaluate(path: str, options: PairOptions, design: EvaluationDesign) -> CommitEvaluation:
    """Predict the pairs of a file from others of it."""
    from steelyard.predict.commits.predictor_evaluation import evaluate_table

    return evaluate_table(read_pairs(path, options), design)
