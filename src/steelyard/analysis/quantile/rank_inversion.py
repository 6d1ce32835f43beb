"""Intervals of quantile effects by inverting a rank test: they hold at small counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.quantile.vertex import Vertex, untied

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_STEPS = 100_000


@dataclass(frozen=True)
class RankProblem:
    """What all effects of one quantile share.

    Parameters
    ----------
    matrix : array, rows x columns
    values : array
    quantile : float
    vertex : Vertex
        The solution.
    variances : array
        For each column the variance of its statistic, but for ``tau (1 - tau)``: the squares that
        the other columns leave of it, rows weighted by the density at the quantile where rows do
        not vary alike (Koenker and Machado, J. Amer. Statist. Assoc. 94 (1999) 1296).
    """

    matrix: Floats
    values: Floats
    quantile: float
    vertex: Vertex
    variances: Floats


def equal_variances(matrix: Floats) -> Floats:
    """The variances of rank statistics where all rows have one density."""
    return np.asarray(1.0 / np.diag(np.linalg.inv(matrix.T @ matrix)), dtype=np.float64)


def weighted_variances(matrix: Floats, densities: Floats) -> Floats:
    """The same where each row has its own density at the quantile."""
    found = np.empty(matrix.shape[1])
    weighted = matrix * densities[:, None]
    normal = matrix.T @ weighted
    for column in range(matrix.shape[1]):
        others = [c for c in range(matrix.shape[1]) if c != column]
        left = matrix[:, column]
        if others:
            shares = np.linalg.solve(normal[np.ix_(others, others)], normal[others, column])
            left = left - matrix[:, others] @ shares
        found[column] = float(left @ left)
    return found


def rank_bound(problem: RankProblem, column: int, cutoff: float, upwards: bool) -> float | None:
    """Where the rank test of a coefficient first says no, on one side of its estimate.

    Parameters
    ----------
    problem : RankProblem
    column : int
        Of the coefficient.
    cutoff : float
        Of the statistic in standard deviations.
    upwards : bool

    Returns
    -------
    float or None
        None where the test never says no: there is no bound.

    Notes
    -----
    Koenker, Probability and Statistics Letters 22 (1994) 295. The statistic of "the coefficient
    is b" is ``x' (a(b) - (1 - tau)) / sqrt(tau (1 - tau) q)`` with the regression rank scores
    a(b) of the model without x, fitted to ``y - b x``. It is a step function of b, walked here
    from step to step by the simplex method, and interpolated between the two steps around the
    cutoff as in R's ``quantreg``.
    """
    walk = _Walk(problem, column, 1.0 if upwards else -1.0)
    scale = np.sqrt(problem.quantile * (1.0 - problem.quantile) * problem.variances[column])
    before, previous = 0.0, walk.coefficient
    for _ in range(_MOST_STEPS):
        place = walk.coefficient
        statistic = abs(walk.release()) / scale
        if statistic > cutoff:
            return previous + (cutoff - before) / (statistic - before) * (place - previous)
        if walk.advance() is None:
            return None
        before, previous = statistic, place
    return None


class _Walk:
    """The solutions of the model without one column, as its coefficient grows or falls."""

    def __init__(self, problem: RankProblem, column: int, direction: float) -> None:
        vertex = problem.vertex
        self.removed = problem.matrix[:, column]
        self.others = np.delete(problem.matrix, column, axis=1)
        self.direction = direction
        self.duals = vertex.duals.copy()
        self.residuals = vertex.residuals.copy()
        self.zeros = vertex.basis.tolist()
        moved = untied(problem.values)
        self.coefficient = float(
            np.linalg.solve(problem.matrix[vertex.basis], moved[vertex.basis])[column]
        )
        self.statistic = 0.0
        self.left = -1

    def release(self) -> float:
        """Let one of the rows that the plane goes through go; the statistic after that."""
        zeros = np.array(self.zeros)
        basis, _ = np.linalg.qr(self.others[zeros], mode="complete")
        null = basis[:, -1]
        rate = float(self.removed[zeros] @ null)
        if rate * self.direction > 0:
            null, rate = -null, -rate
        duals = self.duals[zeros]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(null > 0, (1.0 - duals) / null, -duals / null)
        room[np.abs(null) < 1e-12] = np.inf
        place = int(room.argmin())
        length = max(0.0, float(room[place]))
        self.duals[zeros] = duals + length * null
        self.duals[zeros[place]] = 1.0 if null[place] > 0 else 0.0
        self.statistic += length * rate
        self.left = int(zeros[place])
        self.zeros.pop(place)
        return self.statistic

    def advance(self) -> float | None:
        """Move the coefficient until the plane meets the next row; None where it meets none."""
        zeros = np.array(self.zeros, dtype=np.int64)
        slopes = -self.removed
        if len(zeros):
            turn = np.linalg.solve(self.others[zeros], self.removed[zeros])
            slopes = slopes + self.others @ turn
        slopes = slopes * self.direction
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = -self.residuals / slopes
        # Whose residual moves away from 0, or stays, is not met.
        away = ((self.duals > 0.5) & ~(slopes < -1e-13)) | ((self.duals <= 0.5) & ~(slopes > 1e-13))
        lengths[away] = np.inf
        lengths[zeros] = np.inf
        lengths[self.left] = np.inf
        entering = int(lengths.argmin())
        length = float(lengths[entering])
        if not np.isfinite(length):
            return None
        length = max(0.0, length)
        self.residuals += length * slopes
        self.residuals[zeros] = 0.0
        self.residuals[entering] = 0.0
        self.coefficient += self.direction * length
        self.zeros.append(entering)
        return self.coefficient


def rank_statistic(problem: RankProblem, column: int, vertex: Vertex) -> float:
    """The rank statistic of a coefficient of 0, given the solution without its column."""
    scores = vertex.duals - (1.0 - problem.quantile)
    variance = problem.quantile * (1.0 - problem.quantile) * problem.variances[column]
    return float(problem.matrix[:, column] @ scores) / float(np.sqrt(variance))
