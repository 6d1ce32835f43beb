"""The spread of quantile effects for many rows, each with its own density at the quantile."""

from __future__ import annotations

from math import exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.quantile.many_rows import QuantileProblem

Floats = NDArray[np.float64]

# R's quantreg makes its bandwidths for this confidence, whatever is asked of the interval.
_BANDWIDTH_CONFIDENCE = 0.975
_ROUNDING = float(np.finfo(np.float64).eps) ** 0.5


def bandwidth(quantile: float, count: int) -> float:
    """How far to either side of a quantile to look for the density at it.

    Hall and Sheather, J. R. Statist. Soc. B 50 (1988) 381; halved until both sides are there.
    """
    score = normal_quantile(quantile)
    density = exp(-score * score / 2) / sqrt(2 * pi)
    width: float = (
        count ** (-1 / 3)
        * normal_quantile(_BANDWIDTH_CONFIDENCE) ** (2 / 3)
        * (1.5 * density**2 / (2 * score**2 + 1)) ** (1 / 3)
    )
    while quantile - width < 0 or quantile + width > 1:
        width /= 2
    return width


def densities(problem: QuantileProblem, quantile: float) -> Floats:
    """The density of each row's distribution at the quantile, by a difference quotient.

    Hendricks and Koenker, J. Amer. Statist. Assoc. 87 (1992) 58. 0 where the planes of the two
    quantiles cross.
    """
    width = bandwidth(quantile, len(problem.values))
    high = problem.solve(quantile + width).coefficients
    low = problem.solve(quantile - width).coefficients
    distance = problem.matrix @ (high - low)
    with np.errstate(divide="ignore"):
        return np.where(distance > _ROUNDING, 2 * width / (distance - _ROUNDING), 0.0)


def sandwich_covariance(matrix: Floats, density: Floats, quantile: float) -> Floats | None:
    """The covariance of the coefficients; None where the densities do not determine it."""
    bread = matrix.T @ (matrix * density[:, None])
    try:
        inverse = np.linalg.inv(bread)
    except np.linalg.LinAlgError:
        return None
    covariance = quantile * (1 - quantile) * inverse @ (matrix.T @ matrix) @ inverse
    usable = np.isfinite(covariance).all() and (np.diag(covariance) > 0).all()
    return covariance if bool(usable) else None
