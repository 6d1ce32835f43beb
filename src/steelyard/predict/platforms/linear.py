"""Linear models of an application's cost: which predictors they take is all that differs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.least_squares import LinearFit, fit_linear, mallows_cp
from steelyard.predict.platforms.platform_model import Prediction
from steelyard.predict.platforms.platform_question import Question
from steelyard.predict.subsets.problem import Subsets
from steelyard.predict.subsets.subset_choice import Criterion, choose_subset, noise_of


def predict_by_column(question: Question, column: Floats) -> Prediction:
    """The regression on one predictor, shape (h,)."""
    known = question.known
    fit = fit_linear(column[known, None], question.response[known])
    return Prediction(fit.predict(column[:, None]), adjusted_r_squared=fit.adjusted_r_squared)


def predict_by_subset(question: Question, members: tuple[int, ...]) -> Prediction:
    """The regression on chosen columns of the suite."""
    known = question.known
    x = question.suite[:, list(members)]
    fit = fit_linear(x[known], question.response[known])
    cp = None
    if question.noise_variance:
        cp = mallows_cp(
            fit.residual_sum_squares, question.noise_variance, question.known_count, len(members)
        )
    return Prediction(fit.predict(x), members, fit.adjusted_r_squared, cp)


def predict_by_search(
    question: Question,
    search: Callable[[Floats, Floats, int | None], Subsets],
    criterion: Criterion,
) -> Prediction:
    """The regression on the subset that a search finds and a criterion prefers."""
    known = question.known
    x, y = question.suite[known], question.response[known]
    subsets = search(x, y, question.limit)
    noise = noise_of(subsets, x.shape[1], question.noise_variance)
    chosen = choose_subset(subsets, criterion, noise)
    members = chosen.subset.predictors
    fit = fit_linear(x[:, list(members)], y)
    return Prediction(
        fit.predict(question.suite[:, list(members)]),
        members,
        chosen.adjusted_r_squared,
        chosen.mallows_cp,
        chosen.noise,
        exhaustive=chosen.exhaustive,
    )


def predict_by_penalty(
    question: Question, fit: Callable[[Floats, Floats], LinearFit]
) -> Prediction:
    """The regression on the whole suite, held in by a penalty or by few directions."""
    known = question.known
    model = fit(question.suite[known], question.response[known])
    kept = np.flatnonzero(model.coefficients)
    return Prediction(model.predict(question.suite), tuple(int(place) for place in kept))
