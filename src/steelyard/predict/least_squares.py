"""A linear model with intercept by least squares, and what is read from its residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.linear_algebra import solve_least_squares


@dataclass(frozen=True)
class LinearFit:
    """A fitted linear model.

    Parameters
    ----------
    intercept : float
    coefficients : array, shape (p,)
    residual_sum_squares, total_sum_squares : float
        In the unit of the response, squared; the total is about the mean.
    observations : int
        n. The residual degrees of freedom are n - p - 1.
    """

    intercept: float
    coefficients: Floats
    residual_sum_squares: float
    total_sum_squares: float
    observations: int

    @property
    def adjusted_r_squared(self) -> float | None:
        """As `adjusted_r_squared`."""
        return adjusted_r_squared(
            self.residual_sum_squares,
            self.total_sum_squares,
            self.observations,
            len(self.coefficients),
        )

    def predict(self, x: Floats) -> Floats:
        """The response at rows of predictors, shape (m, p) to (m,)."""
        return self.intercept + x @ self.coefficients


def fit_linear(x: Floats, y: Floats) -> LinearFit:
    """Least squares with intercept; collinear predictors share the smallest coefficients.

    Parameters
    ----------
    x : array, shape (n, p)
    y : array, shape (n,)
    """
    centre = x.mean(axis=0) if x.shape[1] else np.zeros(0)
    centred, response = x - centre, y - y.mean()
    coefficients = solve_least_squares(centred, response)
    residuals = response - centred @ coefficients
    return LinearFit(
        intercept=float(y.mean() - centre @ coefficients),
        coefficients=coefficients,
        residual_sum_squares=float(residuals @ residuals),
        total_sum_squares=float(response @ response),
        observations=len(y),
    )


def adjusted_r_squared(
    residual_sum_squares: float, total_sum_squares: float, observations: int, predictors: int
) -> float | None:
    """1 - (SSE / (n - p - 1)) / (SST / (n - 1)); None where no residual degree is left.

    The standard form (Draper & Smith 1998, Applied Regression Analysis, section 5.1). Oliveira
    2015, equation 7.2a, prints the two degrees of freedom swapped.
    """
    degrees = observations - predictors - 1
    if degrees < 1 or total_sum_squares <= 0:
        return None
    return 1 - (residual_sum_squares / degrees) / (total_sum_squares / (observations - 1))


def mallows_cp(
    residual_sum_squares: float, noise_variance: float, observations: int, predictors: int
) -> float:
    """SSE / s² - n + 2 (p + 1), with the intercept counted among the parameters.

    Mallows 1973, Some comments on C_p. `noise_variance` is s² = SSE_f / (n - p_f - 1) of the full
    model, or from replicates. Oliveira 2015, equation 7.3a with 7.1a, divides SSE_f by n and does
    not count the intercept.
    """
    return residual_sum_squares / noise_variance - observations + 2 * (predictors + 1)
