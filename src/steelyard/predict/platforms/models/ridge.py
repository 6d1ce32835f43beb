"""Ridge regression on the whole suite."""

from __future__ import annotations

from steelyard.predict.penalised import fit_ridge
from steelyard.predict.platforms.linear import predict_by_penalty
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question


def _predict(question: Question) -> Prediction:
    return predict_by_penalty(question, fit_ridge)


EXTENSION = PlatformModel(
    name="ridge",
    description="Ridge regression on the whole suite.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="beyond",
)
