"""Regression with forward selection stopped by Mallows' Cp."""

from __future__ import annotations

from steelyard.predict.platforms.linear import predict_by_search
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question
from steelyard.predict.subsets.stepwise import forward_subsets


def _predict(question: Question) -> Prediction:
    return predict_by_search(question, forward_subsets, "mallows-cp")


EXTENSION = PlatformModel(
    name="forward",
    description="Regression with forward selection stopped by Mallows' Cp.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="thesis",
)
