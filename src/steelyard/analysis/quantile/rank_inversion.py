"""Intervals of quantile effects by inverting a rank test: they hold at small counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.quantile.vertex import (
    Vertex,
    descended,
    first_basis,
    tie_size,
    untied,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_STEPS = 100_000
# The statistic is looked at so many sizes of a tie beyond a step, past all rows that tie there.
_BESIDE = 100.0
_NO_SLOPE = 1e-12


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
    from step to step and interpolated between the two steps around the cutoff.

    In a factorial table the model without x often has many equally good solutions, and where the
    steps lie between which one interpolates depends on which of them are walked through. It is
    done as R's ``quantreg`` does it: solved anew right beside the estimate, and after each row
    that the plane meets only those rows leave it whose scores must.
    """
    others = np.delete(problem.matrix, column, axis=1)
    removed, values = problem.matrix[:, column], untied(problem.values)
    sign = 1.0 if upwards else -1.0
    beside = sign * _BESIDE * tie_size(problem.values)
    scale = np.sqrt(problem.quantile * (1.0 - problem.quantile) * problem.variances[column])
    before, previous = 0.0, float(problem.vertex.coefficients[column])
    place = previous
    basis: Integers | None = None
    for _ in range(_MOST_STEPS):
        here = values - (place + beside) * removed
        if basis is None:
            basis = first_basis(others, here, problem.quantile)
        vertex = descended(others, here, problem.quantile, basis)
        basis = vertex.basis
        statistic = abs(float(removed @ (vertex.duals - (1.0 - problem.quantile)))) / scale
        if statistic >= cutoff:
            return previous + (cutoff - before) / (statistic - before) * (place - previous)
        before, previous = statistic, place
        way = _way_to_next(others, removed, vertex, sign)
        if way is None:
            return None
        place += beside + sign * way
    return None


def _way_to_next(others: Floats, removed: Floats, vertex: Vertex, sign: float) -> float | None:
    """How far the coefficient moves until the plane meets another row; None where it meets none."""
    slopes = -removed
    if len(vertex.basis):
        turn = np.linalg.solve(others[vertex.basis], removed[vertex.basis])
        slopes = slopes + others @ turn
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = -sign * vertex.residuals / slopes
    lengths[vertex.basis] = np.inf
    # A slope of rounding alone is none.
    lengths[~(lengths > 0) | (np.abs(slopes) < _NO_SLOPE * np.abs(removed).max())] = np.inf
    shortest = float(lengths.min())
    return shortest if np.isfinite(shortest) else None


def rank_statistic(problem: RankProblem, column: int, vertex: Vertex) -> float:
    """The rank statistic of a coefficient of 0, given the solution without its column."""
    scores = vertex.duals - (1.0 - problem.quantile)
    variance = problem.quantile * (1.0 - problem.quantile) * problem.variances[column]
    return float(problem.matrix[:, column] @ scores) / float(np.sqrt(variance))
