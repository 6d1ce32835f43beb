"""Regression on the subset of benchmarks with the largest adjusted R²."""

from __future__ import annotations

from steelyard.predict.platforms.linear import predict_by_search
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question
from steelyard.predict.subsets.best_subsets import best_subsets


def _predict(question: Question) -> Prediction:
    return predict_by_search(question, best_subsets, "adjusted-r-squared")


EXTENSION = PlatformModel(
    name="adjusted-r-squared",
    description="Regression on the subset of benchmarks with the largest adjusted R².",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="thesis",
)
