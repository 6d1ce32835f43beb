"""Known hosts weighted by their likeness to the host in question."""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.platforms.kernels import profiles, squared_distances
from steelyard.predict.platforms.platform_model import Prediction
from steelyard.predict.platforms.platform_question import Question

# Widths of the weight's bell, in units of the typical distance between hosts.
WIDTHS = (0.1, 0.2, 0.4, 0.8, 1.6)


def predict_by_likeness(question: Question) -> Prediction:
    """The suite's mean plus what the application cost beside it on hosts of a like profile.

    A kernel regression (Nadaraya 1964, Watson 1964) whose width is the one of least error when
    each known host is left out.
    """
    profile = profiles(question.suite)
    inner = profile @ profile.T
    squared = squared_distances(inner / max(float(np.trace(inner)) / len(inner), 1e-300)) / 2
    mean = question.suite.mean(axis=1)
    known = np.flatnonzero(question.known)
    rest = question.response[known] - mean[known]
    errors: list[float] = []
    for width in WIDTHS:
        weights = _weights(squared[np.ix_(known, known)], width)
        np.fill_diagonal(weights, 0.0)
        errors.append(float(np.abs(_average(weights, rest) - rest).mean()))
    weights = _weights(squared[:, known], WIDTHS[int(np.argmin(errors))])
    return Prediction(mean + _average(weights, rest))


def _weights(squared: Floats, width: float) -> Floats:
    """Gaussian weights; the nearest host of each row has weight 1, however far it is."""
    off_diagonal = squared.copy()
    nearest = off_diagonal.min(axis=1, keepdims=True)
    return np.exp(-(squared - nearest) / (2 * width**2))


def _average(weights: Floats, values: Floats) -> Floats:
    return (weights @ values) / np.maximum(weights.sum(axis=1), 1e-300)
