"""Intervals from errors on cases like the one in question, without a model of the errors."""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats


def conformal_quantile(scores: Floats, confidence: float) -> float | None:
    """The score that a further, exchangeable one stays below with probability `confidence`.

    Between order statistics it is interpolated at confidence * (m + 1) (Hyndman & Fan 1996, type
    6), which covers `confidence` itself; split conformal prediction (Lei et al. 2018) takes the
    next higher one and covers at least it. With scores of m cases the step between the two is
    1 / (m + 1). None where fewer scores than confidence / (1 - confidence) leave it unbounded.
    """
    count = len(scores)
    place = confidence * (count + 1)
    if place > count:
        return None
    ordered = np.sort(scores)
    below = max(int(np.floor(place)), 1)
    above = min(below + 1, count)
    share = min(max(place - below, 0.0), 1.0)
    return float(ordered[below - 1] * (1 - share) + ordered[above - 1] * share)


def jackknife_plus(left_out: Floats, predictions: Floats, confidence: float) -> Floats | None:
    """The jackknife+ interval of Barber et al. 2021, equation 1.2, as (low, high).

    Parameters
    ----------
    left_out : array, shape (n,)
        Absolute error at each known case, predicted without it.
    predictions : array, shape (n,)
        The prediction in question, from the model without each known case.
    confidence : float
        1 - alpha. The interval covers at least 1 - 2 alpha whatever the distribution, and about
        1 - alpha where the model is stable. None where n is below confidence / (1 - confidence):
        9 cases for 90 %.
    """
    count = len(left_out)
    place = int(np.ceil(round(confidence * (count + 1), 9)))
    if place > count:
        return None
    low = np.sort(predictions - left_out)[::-1][place - 1]
    high = np.sort(predictions + left_out)[place - 1]
    return np.array([min(low, high), max(low, high)])
