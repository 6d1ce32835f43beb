"""Partial least squares on the whole suite."""

from __future__ import annotations

from steelyard.predict.platforms.linear import predict_by_penalty
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question
from steelyard.predict.pls_regression import fit_partial_least_squares


def _predict(question: Question) -> Prediction:
    return predict_by_penalty(question, fit_partial_least_squares)


EXTENSION = PlatformModel(
    name="partial-least-squares",
    description="Partial least squares on the whole suite.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="beyond",
)
