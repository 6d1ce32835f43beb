"""Regression on the single benchmark that fits best."""

from __future__ import annotations

from steelyard.predict.platforms.linear import predict_by_search
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question
from steelyard.predict.subsets.stepwise import forward_subsets


def _predict(question: Question) -> Prediction:
    return predict_by_search(
        question, lambda x, y, _limit: forward_subsets(x, y, 1), "adjusted-r-squared"
    )


EXTENSION = PlatformModel(
    name="one-benchmark",
    description="Regression on the single benchmark that fits best.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="thesis",
)
