"""Logistic regression that needs few hits: a prior keeps its weights small and not negative."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.commits.commit_model import CONFIDENCE, Probabilities
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.linear_algebra import pseudo_inverse
from steelyard.predict.scipy_functions import bounded_minimum, logistic_function

# Standard deviations of normal priors: weights of standardised indicators, and the intercept. As
# weak as those of Gelman et al., Ann. Appl. Stat. 2 (2008) 1360, section 2.2, but normal.
_WEIGHT_SPREAD = 2.5
_INTERCEPT_SPREAD = 10.0


@dataclass(frozen=True)
class Logistic:
    """Weights of standardised indicators and of their logarithms.

    Parameters
    ----------
    centre, scale : array, shape (2 k,)
    weights : array, shape (2 k + 1,)
        The intercept first.
    covariance : array, shape (2 k + 1, 2 k + 1)
        By Laplace's approximation.
    """

    centre: Floats
    scale: Floats
    weights: Floats
    covariance: Floats

    def probabilities(self, values: Floats) -> Probabilities:
        """Probabilities with bounds by the delta method on the logits."""
        design = _design(values, self.centre, self.scale)
        logits = design @ self.weights
        spread = np.sqrt(np.maximum(((design @ self.covariance) * design).sum(axis=1), 0.0))
        z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        return Probabilities(
            logistic_function(logits),
            logistic_function(logits - z * spread),
            logistic_function(logits + z * spread),
        )


def learn_logistic(table: PairTable) -> Logistic:
    """The most probable weights, none of which is negative: an indicator never argues against."""
    decided = table.decided()
    columns = _columns(decided.values)
    known = ~np.isnan(columns)
    counts = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, columns, 0.0).sum(axis=0) / counts
    deviations = np.where(known, columns - centre, 0.0)
    scale = np.sqrt((deviations**2).sum(axis=0) / counts)
    scale = np.where(scale > 1e-9, scale, 1.0)
    design = _design(decided.values, centre, scale)
    labels = decided.hits.astype(float)
    precision = np.full(design.shape[1], _WEIGHT_SPREAD**-2)
    precision[0] = _INTERCEPT_SPREAD**-2

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = design @ weights
        value = np.logaddexp(0.0, logits).sum() - labels @ logits
        gradient = design.T @ (logistic_function(logits) - labels) + precision * weights
        return float(value + 0.5 * (precision * weights**2).sum()), gradient

    bounds = [(None, None), *[(0.0, None)] * (design.shape[1] - 1)]
    start = np.zeros(design.shape[1])
    weights = bounded_minimum(loss, start, bounds)
    share = logistic_function(design @ weights)
    information = (design.T * (share * (1 - share))) @ design + np.diag(precision)
    return Logistic(centre, scale, weights, pseudo_inverse(information))


def _columns(values: Floats) -> Floats:
    """Ranks matter by their value, counts by their size: the model weighs both."""
    return np.column_stack([values, np.log1p(values)])


def _design(values: Floats, centre: Floats, scale: Floats) -> Floats:
    """A column of ones and the standardised columns; what is unknown is average."""
    standard = (_columns(values) - centre) / scale
    return np.column_stack([np.ones(len(values)), np.where(np.isnan(standard), 0.0, standard)])
