"""Ridge regression and the elastic net, with the penalty that predicts left-out cases best."""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.least_squares import LinearFit

RIDGE_PENALTIES = tuple(10.0**power for power in np.arange(-4, 2.1, 0.5))
# Shares of the penalty that is absolute (lasso), and its sizes as shares of the smallest that
# leaves no predictor, after glmnet (Friedman, Hastie & Tibshirani 2010).
ABSOLUTE_SHARE = 0.5
NET_PENALTIES = tuple(10.0**power for power in np.linspace(0, -3, 16))
NET_STEPS = 300
MOST_FOLDS = 10


def fit_ridge(x: Floats, y: Floats) -> LinearFit:
    """Ridge regression on standardised predictors, shape (n, p), with intercept.

    The penalty is the one of least squared error when each case is left out, which the singular
    value decomposition gives without refitting (Golub, Heath & Wahba 1979).
    """
    centre, scale = x.mean(axis=0), _scale(x)
    standard, response = (x - centre) / scale, y - y.mean()
    left, singular, right = np.linalg.svd(standard, full_matrices=False)
    rotated = left.T @ response
    best, coefficients = np.inf, np.zeros(x.shape[1])
    for penalty in RIDGE_PENALTIES:
        shrunk = singular**2 / (singular**2 + penalty * len(y))
        leverage = (left**2) @ shrunk + 1 / len(y)
        error = (response - left @ (shrunk * rotated)) / np.maximum(1 - leverage, 1e-9)
        if float(error @ error) < best:
            best = float(error @ error)
            inverse = singular / (singular**2 + penalty * len(y))
            coefficients = right.T @ (inverse * rotated)
    return _unscaled(coefficients / scale, x, y)


def fit_elastic_net(x: Floats, y: Floats) -> LinearFit:
    """The elastic net on standardised predictors, shape (n, p), with intercept.

    Accelerated proximal gradient steps, all penalties at once (Beck & Teboulle 2009); the penalty
    is chosen by leaving out each case, or each tenth of the cases where there are more than ten.
    """
    folds = np.arange(len(y)) % min(len(y), MOST_FOLDS)
    errors = np.zeros(len(NET_PENALTIES))
    largest = _largest_penalty(x, y)
    for fold in range(int(folds.max()) + 1):
        inside, outside = folds != fold, folds == fold
        centre, scale = x[inside].mean(axis=0), _scale(x[inside])
        standard, mean = (x[inside] - centre) / scale, y[inside].mean()
        path = _net_path(standard, y[inside] - mean, largest)
        predicted = mean + ((x[outside] - centre) / scale) @ path.T
        errors += ((predicted - y[outside][:, None]) ** 2).sum(axis=0)
    centre, scale = x.mean(axis=0), _scale(x)
    path = _net_path((x - centre) / scale, y - y.mean(), largest)
    return _unscaled(path[int(errors.argmin())] / scale, x, y)


def _net_path(standard: Floats, response: Floats, largest: float) -> Floats:
    """Coefficients at each penalty, shape (penalties, p)."""
    n, p = standard.shape
    gram, target = standard.T @ standard / n, standard.T @ response / n
    penalties = largest * np.array(NET_PENALTIES)[:, None]
    absolute, squared = penalties * ABSOLUTE_SHARE, penalties * (1 - ABSOLUTE_SHARE)
    step = 1 / (float(np.linalg.norm(gram, 2)) + squared + 1e-12)
    coefficients = np.zeros((len(NET_PENALTIES), p))
    ahead, momentum = coefficients, 1.0
    for _ in range(NET_STEPS):
        moved = ahead - step * (ahead @ gram - target + squared * ahead)
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * absolute, 0.0)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = shrunk + (momentum - 1) / following * (shrunk - coefficients)
        coefficients, momentum = shrunk, following
    return coefficients


def _largest_penalty(x: Floats, y: Floats) -> float:
    """The smallest penalty at which no predictor is left."""
    standard = (x - x.mean(axis=0)) / _scale(x)
    return float(np.abs(standard.T @ (y - y.mean())).max(initial=0.0) / len(y) / ABSOLUTE_SHARE)


def _scale(x: Floats) -> Floats:
    """Standard deviations of columns; 1 for a column that does not vary."""
    deviation = x.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _unscaled(coefficients: Floats, x: Floats, y: Floats) -> LinearFit:
    """The fit in the units of the table."""
    centre = x.mean(axis=0)
    response = y - y.mean()
    residual = response - (x - centre) @ coefficients
    return LinearFit(
        float(y.mean() - centre @ coefficients),
        coefficients,
        float(residual @ residual),
        float(response @ response),
        len(y),
    )
