"""Regression on one benchmark of each cluster of correlated ones."""

from __future__ import annotations

from steelyard.predict.correlation_clusters import cluster_columns
from steelyard.predict.platforms.linear import predict_by_subset
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question

# As many as Oliveira 2015 took in section 7.5.
CLUSTERS = 5


def _predict(question: Question) -> Prediction:
    most = question.known_count - 2
    if question.representatives:
        return predict_by_subset(question, question.representatives[:most])
    count = min(CLUSTERS if question.limit is None else question.limit, most)
    return predict_by_subset(question, cluster_columns(question.suite).representatives(count))


EXTENSION = PlatformModel(
    name="clusters",
    description="Regression on one benchmark of each cluster of correlated ones.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="thesis",
)
