"""The models that are chosen from, simplest first."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.core.errors import UnknownNameError
from steelyard.predict.commits.commit_model import CommitModel
from steelyard.predict.commits.logistic import learn_logistic
from steelyard.predict.commits.rising_shares import learn_rising_shares
from steelyard.predict.commits.threshold_shares import learn_threshold_shares

MODELS: Mapping[str, CommitModel] = {
    model.name: model
    for model in (
        CommitModel(
            "thresholds",
            "Yes where an indicator reaches its threshold (Oliveira 2015, Algorithm 1).",
            learn_threshold_shares,
        ),
        CommitModel(
            "rising-shares",
            "Share of changes, rising with the rarest indicator of a pair.",
            learn_rising_shares,
        ),
        CommitModel(
            "logistic",
            "Logistic regression with weights that are small and never negative.",
            learn_logistic,
        ),
    )
}


def model_called(name: str) -> CommitModel:
    """The model of a name; an unknown name is an error that lists the known ones."""
    if name not in MODELS:
        known = ", ".join(MODELS)
        raise UnknownNameError(f"There is no commit model {name!r}. Known: {known}.", field="model")
    return MODELS[name]
