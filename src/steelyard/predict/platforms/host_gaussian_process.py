"""A Gaussian process over the profiles of hosts, its length and noise by marginal likelihood."""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.kriging import krige
from steelyard.predict.platforms.kernels import profiles, squared_distances
from steelyard.predict.platforms.platform_model import Prediction
from steelyard.predict.platforms.platform_question import Question

LENGTHS = tuple(2.0**power for power in range(-3, 4))
NUGGETS = tuple(10.0**power for power in (-4, -3, -2, -1, 0))


def predict_by_likelihood(question: Question) -> Prediction:
    """The process around the suite's mean whose hyperparameters make the known costs likeliest.

    Rasmussen & Williams 2006, equation 5.8, with the process' variance and its constant
    estimated in closed form, over a grid of lengths and noises.
    """
    profile = profiles(question.suite)
    inner = profile @ profile.T
    squared = squared_distances(inner / max(float(np.trace(inner)) / len(inner), 1e-300)) / 2
    prior = question.suite.mean(axis=1)
    rest = question.response - prior
    best, chosen = -np.inf, (np.eye(len(inner)), NUGGETS[-1])
    for length in LENGTHS:
        kernel = np.exp(-squared / (2 * length**2))
        for nugget in NUGGETS:
            likelihood = _log_likelihood(kernel, rest, nugget)
            if likelihood > best:
                best, chosen = likelihood, (kernel, nugget)
    return Prediction(krige(chosen[0], rest, chosen[1]).values + prior)


def _log_likelihood(kernel: Floats, rest: Floats, nugget: float) -> float:
    """Restricted log likelihood, up to a constant."""
    known = np.flatnonzero(np.isfinite(rest))
    count = len(known)
    covariance = kernel[np.ix_(known, known)] + nugget * np.eye(count)
    _, log_determinant = np.linalg.slogdet(covariance)
    inverse = np.linalg.inv(covariance)
    whole = float(inverse.sum())
    constant = float(inverse.sum(axis=0) @ rest[known]) / whole
    centred = rest[known] - constant
    variance = max(float(centred @ inverse @ centred) / (count - 1), 1e-12)
    return -0.5 * ((count - 1) * np.log(variance) + log_determinant + np.log(whole))
