"""What models make of an application on the hosts where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.model_evaluation import error_ratio
from steelyard.predict.platforms.platform_answers import Asked
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import hide, make_question
from steelyard.predict.platforms.refusal import refuse_question


@dataclass(frozen=True)
class FittedModel:
    """One model's fit.

    Parameters
    ----------
    model : PlatformModel
    prediction : Prediction
    predictors : tuple of str
    error_median, error_max : float or None
        Of known hosts, each left out in turn; None where too few remain.
    """

    model: PlatformModel
    prediction: Prediction
    predictors: tuple[str, ...]
    error_median: float | None
    error_max: float | None


@dataclass(frozen=True)
class FittedModels:
    """All models' fits, least median error first."""

    kind: ClassVar[str] = "platform-fit"

    application: str
    known_hosts: int
    models: tuple[FittedModel, ...]
    cautions: tuple[Caution, ...] = ()


def fit_models(
    table: PlatformTable,
    asked: Asked,
    models: Sequence[PlatformModel],
    cautions: Sequence[Caution] = (),
) -> FittedModels:
    """Fit each model to all known hosts, and to all but each.

    Raises
    ------
    AnalysisError
        The application is known on too few hosts for any of the models.
    """
    whole = make_question(table, asked.application, asked.predictors, asked.representatives)
    place = table.place_of(asked.application)
    fitted: list[FittedModel] = []
    refusals: list[str] = []
    for model in models:
        refusal = refuse_question(whole, model)
        if refusal is not None:
            refusals.append(refusal.explanation)
            continue
        errors: list[float] = []
        for host in np.flatnonzero(whole.known):
            others = whole.known.copy()
            others[host] = False
            left_out = hide(whole, others)
            if refuse_question(left_out, model) is None:
                cost = float(model.predict(left_out).costs[host])
                errors.append(error_ratio(table, place, cost, float(whole.response[host])))
        prediction = model.predict(whole)
        fitted.append(
            FittedModel(
                model,
                prediction,
                tuple(whole.benchmarks[column] for column in prediction.predictors),
                float(np.median(errors)) if errors else None,
                max(errors, default=None),
            )
        )
    if not fitted:
        raise AnalysisError(f"Nothing can be fitted. {refusals[0]}", field="application")
    fitted.sort(key=lambda one: float("inf") if one.error_median is None else one.error_median)
    return FittedModels(asked.application, whole.known_count, tuple(fitted), tuple(cautions))
