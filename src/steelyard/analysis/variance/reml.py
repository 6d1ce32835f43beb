"""Variance components by restricted maximum likelihood, for nested levels."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from steelyard.analysis.variance.level_layers import Layer
from steelyard.analysis.variance.nelder_mead import simplex_minimum
from steelyard.analysis.variance.nested_values import Floats, Integers


def reml_components(layers: Sequence[Layer], start: Sequence[float]) -> list[float]:
    """The components that make the residuals of the mean likeliest.

    Parameters
    ----------
    layers : sequence of Layer
        Lowest first.
    start : sequence of float
        Components to search from, those of the analysis of variance. Returned as they are, with
        0 for negative ones, where the likelihood has no maximum: nothing varies at the lowest
        level.

    Notes
    -----
    Restricted maximum likelihood (Patterson and Thompson, Biometrika 58 (1971) 545), as lme4
    computes it. Nesting makes the likelihood a recursion from the measurements up: children with
    means m and variances v around their parent's give ``-1/2 (sum log v + log W + sum (m -
    centre)^2 / v)``, W = sum 1/v, and leave a parent with mean ``centre`` and variance 1/W. The
    variance of the lowest level is profiled out.
    """
    clipped = [max(0.0, component) for component in start]
    if not layers or len(layers[0].mean) < 2:
        return clipped
    likelihood = _Likelihood(layers)
    if likelihood.within <= 0:
        return clipped
    lowest = clipped[0]
    ratios = np.array([sqrt(component / lowest) for component in clipped[1:]])
    found = simplex_minimum(likelihood.deviance, ratios)
    scale = likelihood.scale(found)
    return [scale, *(scale * ratio * ratio for ratio in found.tolist())]


class _Likelihood:
    """The likelihood as a function of the ratios sigma_i / sigma_1, from the second level up."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        lowest = layers[0]
        self.count = len(lowest.mean)
        self.weights = np.bincount(lowest.parent, minlength=lowest.parent_count).astype(np.float64)
        self.means = lowest.gathered(lowest.mean) / self.weights
        deviations = lowest.mean - self.means[lowest.parent]
        self.within = float(deviations @ deviations)
        self.log_weights = float(np.log(self.weights).sum())
        self.above: list[tuple[Integers, int]] = [(x.parent, x.parent_count) for x in layers[1:]]

    def _sums(self, ratios: Floats) -> tuple[float, float]:
        """The sum of logarithms, and that of squares in units of sigma_1^2."""
        logarithms, squares = self.log_weights, self.within
        means, weights = self.means, self.weights
        for ratio, (parent, parent_count) in zip(ratios.tolist(), self.above, strict=True):
            variance = 1.0 / weights + ratio * ratio
            logarithms += float(np.log(variance).sum())
            shares = 1.0 / variance
            weights = np.bincount(parent, shares, minlength=parent_count)
            centre = np.bincount(parent, shares * means, minlength=parent_count) / weights
            squares += float(shares @ (means - centre[parent]) ** 2)
            logarithms += float(np.log(weights).sum())
            means = centre
        return logarithms, squares

    def scale(self, ratios: Floats) -> float:
        """The variance of the lowest level that goes with the ratios."""
        return self._sums(ratios)[1] / (self.count - 1)

    def deviance(self, ratios: Floats) -> float:
        """-2 log likelihood, but for a constant."""
        logarithms, squares = self._sums(ratios)
        return logarithms + (self.count - 1) * log(squares)
