"""The restricted likelihood of fixed effects with nested random intercepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Solved:
    """What one set of ratios gives, in units of the residual variance.

    Parameters
    ----------
    coefficients : array
    unscaled : array
        Covariance of the coefficients for a residual variance of 1.
    squares : float
        The generalised sum of squares around the fit.
    logarithms : float
        log |V| + log |X' V^-1 X|.
    """

    coefficients: Floats
    unscaled: Floats
    squares: float
    logarithms: float


class NestedLikelihood:
    """y = X b + one intercept a unit at each level + error, levels nested.

    Parameters
    ----------
    matrix : array, rows x columns
        X, of full column rank.
    values : array
        y.
    parents : sequence of array of int
        Lowest level first: the unit of each row, then for each of these units that above it.

    Notes
    -----
    Nesting makes every product with V^-1 a recursion from the rows up, as in
    ``analysis/variance/reml.py``: children with means m and variances v leave
    ``sum (m - centre)(m - centre)' / v`` and a parent with mean ``centre`` and variance
    ``1 / sum (1/v) + theta^2``. Here m is a row of [X y]. What varies within the lowest units does
    not depend on the ratios and is computed once.
    """

    def __init__(self, matrix: Floats, values: Floats, parents: Sequence[Integers]) -> None:
        whole = np.column_stack([matrix, values])
        self.count, self.width = matrix.shape
        self._parents = parents[1:]
        lowest = parents[0]
        self._counts = np.bincount(lowest).astype(np.float64)
        self._means = _sums(whole, lowest, len(self._counts)) / self._counts[:, None]
        deviations = whole - self._means[lowest]
        self._within = deviations.T @ deviations
        self._log_counts = float(np.log(self._counts).sum())

    def solve(self, ratios: Floats) -> Solved:
        """The best fixed effects for ratios sigma_level / sigma, lowest level first."""
        products, logarithms = self._within, self._log_counts
        means = self._means
        variances = 1.0 / self._counts + float(ratios[0]) ** 2
        logarithms += float(np.log(variances).sum())
        for ratio, parent in zip(ratios[1:].tolist(), self._parents, strict=True):
            weights = 1.0 / variances
            unit_count = int(parent.max()) + 1
            totals = np.bincount(parent, weights, minlength=unit_count)
            centres = _sums(means * weights[:, None], parent, unit_count) / totals[:, None]
            deviations = means - centres[parent]
            products = products + deviations.T @ (deviations * weights[:, None])
            variances = 1.0 / totals + ratio * ratio
            logarithms += float(np.log(totals).sum()) + float(np.log(variances).sum())
            means = centres
        products = products + means.T @ (means / variances[:, None])
        width = self.width
        inner, right = products[:width, :width], products[:width, width]
        coefficients = np.linalg.solve(inner, right)
        squares = float(products[width, width] - right @ coefficients)
        logarithms += float(np.linalg.slogdet(inner)[1])
        unscaled = np.linalg.inv(inner)
        return Solved(
            np.asarray(coefficients, dtype=np.float64),
            np.asarray(unscaled, dtype=np.float64),
            max(squares, 0.0),
            logarithms,
        )

    def profiled(self, ratios: Floats) -> float:
        """-2 log likelihood at the best residual variance, but for a constant."""
        found = self.solve(np.abs(ratios))
        return found.logarithms + (self.count - self.width) * float(
            np.log(max(found.squares, 1e-300))
        )

    def deviance(self, ratios: Floats, deviation: float) -> float:
        """-2 log likelihood, but for a constant, at a residual standard deviation."""
        found = self.solve(ratios)
        freedom = self.count - self.width
        return (
            found.logarithms + 2 * freedom * float(np.log(deviation)) + found.squares / deviation**2
        )


def _sums(rows: Floats, group: Integers, group_count: int) -> Floats:
    """The sum of the rows of each group, column by column."""
    return np.stack(
        [np.bincount(group, column, minlength=group_count) for column in rows.T], axis=1
    ).astype(np.float64)
