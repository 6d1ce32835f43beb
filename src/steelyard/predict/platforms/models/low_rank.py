"""Low rank of the whole table, the application a column of it."""

from __future__ import annotations

import numpy as np

from steelyard.predict.matrix_completion import complete_table
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question


def _predict(question: Question) -> Prediction:
    table = np.column_stack([question.suite, question.response])
    return Prediction(complete_table(table).fitted[:, -1])


EXTENSION = PlatformModel(
    name="low-rank",
    description="Low rank of the whole table, the application a column of it.",
    predict=_predict,
    least_known=3,
    needs="suite",
    origin="beyond",
)
