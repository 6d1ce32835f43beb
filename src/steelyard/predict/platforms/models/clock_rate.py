"""Regression on the clock rate of the hosts."""

from __future__ import annotations

from steelyard.core.errors import AnalysisError
from steelyard.predict.platforms.linear import predict_by_column
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question


def _predict(question: Question) -> Prediction:
    if question.clock is None:
        raise AnalysisError(
            "The model clock-rate needs the clock rate of every host.\n"
            "Add a column clock_mhz to the table.",
            field="model",
        )
    return predict_by_column(question, question.clock)


EXTENSION = PlatformModel(
    name="clock-rate",
    description="Regression on the clock rate of the hosts.",
    predict=_predict,
    least_known=3,
    needs="clock",
    origin="thesis",
)
