"""Least squares at the points of a design: coefficients, sums of squares, leverages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.linear.model_matrix import ModelMatrix
from steelyard.analysis.linear.orthogonal import Orthogonal, orthogonalised

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What rounding leaves of a sum of squares that is 0, relative to the total.
_ROUNDING = 1e-25


@dataclass(frozen=True)
class Fit:
    """A fitted linear model.

    Parameters
    ----------
    model : ModelMatrix
    columns : Orthogonal
        Of the model's matrix, each point weighted by its rows.
    coefficients : array
        Of the kept columns.
    residuals, fitted : array
        One a row of the table.
    point_means, point_squares : array
        One a point: its mean, and the squares around it.
    error_squares, total_squares : float
        Around the model, and around the mean.
    rank : int
        Kept columns.
    """

    model: ModelMatrix
    columns: Orthogonal
    coefficients: Floats
    residuals: Floats
    fitted: Floats
    point_means: Floats
    point_squares: Floats
    error_squares: float
    total_squares: float
    rank: int

    @property
    def count(self) -> int:
        """Rows."""
        return len(self.residuals)

    @property
    def error_degrees(self) -> int:
        """Degrees of freedom of the error."""
        return self.count - self.rank

    @property
    def error_variance(self) -> float | None:
        """The mean square of the error; None without degrees of freedom."""
        return self.error_squares / self.error_degrees if self.error_degrees > 0 else None

    @property
    def r_squared(self) -> float | None:
        """The share of the variation that the model explains; None where nothing varies."""
        if self.total_squares <= 0:
            return None
        return 1.0 - self.error_squares / self.total_squares

    @property
    def unscaled_covariance(self) -> Floats:
        """Covariance of the coefficients for an error variance of 1."""
        inverse = self.columns.inverse
        return np.asarray(inverse @ inverse.T, dtype=np.float64)

    @property
    def leverages(self) -> Floats:
        """Of one row at each point."""
        basis = np.asarray(self.columns.basis, dtype=np.float64)
        return np.einsum("ij,ij->i", basis, basis) / self.model.counts

    def by_point(self, values: Floats) -> Floats:
        """Sums of a value of each row over the rows of each point."""
        return sums_by(self.model.point, values, len(self.model.counts))

    def projected_squares(self, values: Floats) -> float:
        """The sum of squares that the model explains of other values, intercept included."""
        weights = np.sqrt(self.model.counts)
        basis = np.asarray(self.columns.basis, dtype=np.float64)
        part = basis.T @ (self.by_point(values) / weights)
        return float(part @ part)


def sums_by(group: Integers, values: Floats, group_count: int) -> Floats:
    """The sum of the values of each group."""
    return np.asarray(np.bincount(group, values, minlength=group_count), dtype=np.float64)


def fit(model: ModelMatrix, values: Floats) -> Fit:
    """Fit a model to a response.

    Parameters
    ----------
    model : ModelMatrix
        Its first column is the intercept.
    values : array
        The response of each row, finite.

    Notes
    -----
    Each point stands for its rows by their mean, weighted by the root of their number: the
    normal equations are the same, and what varies within points joins the error. Values are
    taken from the first one, so that a large common part costs no digits.
    """
    origin = float(values[0])
    shifted = values - origin
    counts = model.counts
    weights = np.sqrt(counts)
    means = sums_by(model.point, shifted, len(counts)) / counts
    # A second pass takes off what the first one's rounding left.
    means += sums_by(model.point, shifted - means[model.point], len(counts)) / counts
    within = shifted - means[model.point]
    squares = sums_by(model.point, within * within, len(counts))
    columns = orthogonalised(model.matrix * weights[:, None])
    matrix = model.matrix[:, list(columns.kept)]
    found = columns.coefficients(means * weights)
    fitted = np.asarray(matrix.astype(found.dtype) @ found, dtype=np.float64)
    lack = 0.0 if len(columns.kept) == len(counts) else float(counts @ (means - fitted) ** 2)
    error = float(squares.sum()) + lack
    centre = float(shifted.mean())
    deviations = shifted - centre
    total = float(deviations @ deviations)
    constant = bool(np.ptp(values) == 0)
    if constant or error <= _ROUNDING * total:
        error = 0.0
    coefficients = np.asarray(found, dtype=np.float64)
    coefficients[0] = float(found[0] + np.longdouble(origin))
    return Fit(
        model=model,
        columns=columns,
        coefficients=coefficients,
        residuals=shifted - fitted[model.point],
        fitted=fitted[model.point] + origin,
        point_means=means + origin,
        point_squares=squares,
        error_squares=error,
        total_squares=0.0 if constant else total,
        rank=len(columns.kept),
    )
