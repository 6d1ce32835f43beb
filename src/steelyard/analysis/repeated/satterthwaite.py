"""Degrees of freedom for fixed effects of a mixed model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.repeated.nested_likelihood import NestedLikelihood

Floats = NDArray[np.float64]

# Differences at this share of a parameter lose half of the digits, as they must.
_STEP = 1e-4


class Satterthwaite:
    """Degrees of freedom by the precision of the variance of an estimate.

    Parameters
    ----------
    likelihood : NestedLikelihood
    ratios : array
        The likeliest; those at 0 are taken as known, as they have no curvature there.
    deviation : float
        The likeliest residual standard deviation.

    Notes
    -----
    ``2 f^2 / (g' A g)``: f the variance of a contrast as a function of the parameters, g its
    gradient, A the covariance of the parameters from the curvature of the deviance. Giesbrecht
    and Burns, Biometrics 41 (1985) 477, as lmerTest computes it.
    """

    def __init__(self, likelihood: NestedLikelihood, ratios: Floats, deviation: float) -> None:
        self._likelihood = likelihood
        self._ratios = ratios
        self._free = [i for i, ratio in enumerate(ratios.tolist()) if ratio > 1e-4]
        self._at = np.append(ratios[self._free], deviation)
        steps = _STEP * np.maximum(self._at, 1e-8)
        self._steps = steps
        size = len(self._at)
        hessian = np.empty((size, size))
        for i in range(size):
            for j in range(i, size):
                hessian[i, j] = hessian[j, i] = self._curvature(i, j)
        self._covariance = 2.0 * np.linalg.pinv(hessian)
        self._gradients = np.stack(
            [
                (self._variances(i, 1.0) - self._variances(i, -1.0)) / (2 * steps[i])
                for i in range(size)
            ]
        )
        self.covariance = self._scaled(self._at)

    def degrees(self, contrast: Floats) -> float:
        """Of the estimate ``contrast' b``."""
        variance = float(contrast @ self.covariance @ contrast)
        gradient = np.array([float(contrast @ g @ contrast) for g in self._gradients])
        below = float(gradient @ self._covariance @ gradient)
        return 2 * variance**2 / below if below > 0 else float("inf")

    def _scaled(self, parameters: Floats) -> Floats:
        return self._likelihood.solve(self._full(parameters)).unscaled * parameters[-1] ** 2

    def _full(self, parameters: Floats) -> Floats:
        ratios = np.zeros(len(self._ratios))
        ratios[self._free] = parameters[:-1]
        return ratios

    def _variances(self, place: int, sign: float) -> Floats:
        parameters = self._at.copy()
        parameters[place] += sign * self._steps[place]
        return self._scaled(parameters)

    def _deviance(self, moves: list[tuple[int, float]]) -> float:
        parameters = self._at.copy()
        for place, sign in moves:
            parameters[place] += sign * self._steps[place]
        return self._likelihood.deviance(self._full(parameters), float(parameters[-1]))

    def _curvature(self, i: int, j: int) -> float:
        if i == j:
            outer = self._deviance([(i, 1.0)]) + self._deviance([(i, -1.0)])
            return (outer - 2 * self._deviance([])) / self._steps[i] ** 2
        plus = self._deviance([(i, 1.0), (j, 1.0)]) + self._deviance([(i, -1.0), (j, -1.0)])
        minus = self._deviance([(i, 1.0), (j, -1.0)]) + self._deviance([(i, -1.0), (j, 1.0)])
        return (plus - minus) / (4 * self._steps[i] * self._steps[j])
