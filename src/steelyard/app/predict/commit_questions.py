"""What may be asked about commits, and of which models."""

from __future__ import annotations

from steelyard.predict.commits.commit_answers import CommitAnswer
from steelyard.predict.commits.evaluation_design import CHOSEN, DESIGNS, EvaluationDesign
from steelyard.predict.commits.pair_rows import PairNames

__all__ = [
    "CHOSEN",
    "DESIGNS",
    "CommitAnswer",
    "EvaluationDesign",
    "PairNames",
    "commit_model_names",
]


def commit_model_names() -> list[str]:
    """The names of all commit models."""
    from steelyard.predict.commits.candidate_models import MODELS

    return list(MODELS)
