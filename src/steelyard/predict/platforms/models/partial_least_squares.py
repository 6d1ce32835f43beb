"""Partial least squares on the whole suite."""

from __future__ import annotations

from steelyard.predict.partial_least_squares import fit_partial_least_squares
from steelyard.predict.platforms.linear import predict_by_penalty
from steelyard.predict.platforms.model import PlatformModel, Prediction
from steelyard.predict.platforms.question import Question


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
