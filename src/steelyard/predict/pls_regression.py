"""Partial least squares: a few directions of the predictors that vary with the response."""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.least_squares import LinearFit

MOST_COMPONENTS = 6


def fit_partial_least_squares(x: Floats, y: Floats) -> LinearFit:
    """PLS1 with as many components as predict left-out cases best.

    Parameters
    ----------
    x : array, shape (n, p)
        Centred and scaled to variance 1 within.
    y : array, shape (n,)

    Notes
    -----
    The orthogonal scores algorithm (Wold 1975; Martens & Naes 1989). Every case is left out once,
    or every tenth where there are more than 30.
    """
    n = len(y)
    folds = np.arange(n) % min(n, 30)
    most = max(min(MOST_COMPONENTS, n - 2, x.shape[1]), 1)
    errors = np.zeros(most)
    for fold in range(int(folds.max()) + 1):
        inside, outside = folds != fold, folds == fold
        for place, (intercept, coefficients) in enumerate(_paths(x[inside], y[inside], most)):
            errors[place] += ((intercept + x[outside] @ coefficients - y[outside]) ** 2).sum()
    intercept, coefficients = _paths(x, y, most)[int(errors.argmin())]
    residual = y - intercept - x @ coefficients
    total = float(((y - y.mean()) ** 2).sum())
    return LinearFit(intercept, coefficients, float(residual @ residual), total, n)


def _paths(x: Floats, y: Floats, most: int) -> list[tuple[float, Floats]]:
    """Intercept and coefficients with 1, 2, ... components; the last repeats where none is left."""
    centre, deviation = x.mean(axis=0), x.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    left, response = (x - centre) / scale, y - y.mean()
    weights: list[Floats] = []
    loadings: list[Floats] = []
    gains: list[float] = []
    found: list[tuple[float, Floats]] = []
    coefficients = np.zeros(x.shape[1])
    for _ in range(most):
        direction = left.T @ response
        norm = float(np.linalg.norm(direction))
        if norm > 1e-12 * max(float(np.linalg.norm(left)), 1e-300):
            direction = direction / norm
            score = left @ direction
            size = float(score @ score)
            loading, gain = left.T @ score / size, float(response @ score) / size
            left, response = left - np.outer(score, loading), response - gain * score
            weights.append(direction)
            loadings.append(loading)
            gains.append(gain)
            w, q = np.array(weights).T, np.array(loadings)
            coefficients = w @ np.linalg.solve(q @ w, np.array(gains)) / scale
        found.append((float(y.mean() - centre @ coefficients), coefficients))
    return found
