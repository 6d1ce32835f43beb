"""Regression on the geometric mean of the suite."""

from __future__ import annotations

from steelyard.predict.platforms.linear import predict_by_column
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question


def _predict(question: Question) -> Prediction:
    return predict_by_column(question, question.suite.mean(axis=1))


EXTENSION = PlatformModel(
    name="geometric-mean",
    description="Regression on the geometric mean of the suite.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="thesis",
)
