"""Quantile regression by walking from vertex to vertex: exact, and fast from a good start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How far outside [0, 1] rounding may leave a dual value.
_TOLERANCE = 1e-9
# Ties are told apart by so much of the spread, far below the digits of any clock and above those of
# rounding; the vertex is then solved for the values as they are.
_TIE_RATIO = 1e-12
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
_TIE_SEED = 20150416
_MOST_STEPS = 100_000


@dataclass(frozen=True)
class Vertex:
    """A solution: the rows that it goes through, and the dual value of every row.

    Parameters
    ----------
    coefficients : array
    basis : array of int
        As many rows as coefficients, with residual 0.
    duals : array
        1 for rows above, 0 for rows below, between 0 and 1 in the basis: the regression rank
        scores of Gutenbrunner and Jurečková (Annals of Statistics 20 (1992) 305).
    residuals : array
        Of the values with ties told apart: whose sign is that of the dual's side.
    """

    coefficients: Floats
    basis: Integers
    duals: Floats
    residuals: Floats


def untied(values: Floats) -> Floats:
    """The values with ties told apart, always in the same way."""
    noise = np.random.Generator(np.random.SFC64(_TIE_SEED)).uniform(-1, 1, len(values))
    return values + tie_size(values) * noise


def tie_size(values: Floats) -> float:
    """By how much values that tie are moved apart at most."""
    spread = float(np.ptp(values)) or abs(float(values[0])) or 1.0
    return max(_TIE_RATIO * spread, _ROUNDING * float(np.abs(values).max()))


def best_vertex(
    matrix: Floats, values: Floats, quantile: float, basis: Integers | None = None
) -> Vertex:
    """The coefficients that make the asymmetric sum of distances least.

    Parameters
    ----------
    matrix : array, rows x columns
        Of full column rank.
    values : array
    quantile : float
        Above 0 and below 1.
    basis : array of int, optional
        Linearly independent rows to start from; `first_basis` unless given.

    Notes
    -----
    Where several vertices are as good (a share of the rows of a factorial table that is a whole
    number, say), it is that of R's ``quantreg``, which starts at the same place.

    Barrodale and Roberts (SIAM J. Numerical Analysis 10 (1973) 839) as Koenker and d'Orey
    extended it (Applied Statistics 36 (1987) 383): of the rows that the plane goes through, the
    one whose dual value is furthest outside [0, 1] is left, and the plane moves past as many
    other rows as the sum gains by.
    """
    moved = untied(values)
    basis = first_basis(matrix, moved, quantile) if basis is None else basis.copy()
    vertex = descended(matrix, moved, quantile, basis)
    coefficients = np.linalg.solve(matrix[vertex.basis], values[vertex.basis])
    return replace(vertex, coefficients=np.asarray(coefficients, dtype=np.float64))


def first_basis(matrix: Floats, values: Floats, quantile: float) -> Integers:
    """Linearly independent rows near the solution: one coefficient after the other leaves 0.

    Each time the one along which the sum of distances falls fastest moves, with the rows that the
    plane goes through already held, to the row at which the sum stops falling.
    """
    width = matrix.shape[1]
    # A slot holds a coefficient that is still 0 (its unit vector) or a row of residual 0.
    held = np.eye(width)
    rows = np.full(width, -1, dtype=np.int64)
    wanted = (1.0 - quantile) * matrix.sum(axis=0)
    residuals = values.copy()
    while bool((rows < 0).any()):
        inverse = np.asarray(np.linalg.inv(held), dtype=np.float64)
        basis = rows[rows >= 0]
        weights = (residuals >= 0).astype(np.float64)
        weights[basis] = 0.0
        gradient = (wanted - weights @ matrix) @ inverse
        place = _first_of_largest(np.where(rows < 0, np.abs(gradient), -1.0))
        slopes = matrix @ inverse[:, place]
        slopes = -slopes if gradient[place] <= _TOLERANCE else slopes
        entering, length = _entering(residuals, slopes, basis, abs(float(gradient[place])))
        residuals = residuals + length * slopes
        residuals[basis] = 0.0
        residuals[entering] = 0.0
        rows[place] = entering
        held[place] = matrix[entering]
    return rows


def descended(matrix: Floats, moved: Floats, quantile: float, basis: Integers) -> Vertex:
    """The solution at the end of the walk from `basis`, for values without ties."""
    basis = basis.copy()
    wanted = (1.0 - quantile) * matrix.sum(axis=0)
    inverse = _inverse(matrix, basis)
    residuals = moved - matrix @ (inverse @ moved[basis])
    residuals[basis] = 0.0
    for _ in range(_MOST_STEPS):
        weights = (residuals > 0).astype(np.float64)
        weights[basis] = 0.0
        duals = (wanted - weights @ matrix) @ inverse
        if not len(basis):
            return Vertex(duals, basis, weights, residuals)
        excess = np.maximum(duals - 1.0, -duals)
        place = _first_of_largest(excess)
        if excess[place] <= _TOLERANCE:
            weights[basis] = np.clip(duals, 0.0, 1.0)
            return Vertex(inverse @ moved[basis], basis, weights, residuals)
        rising = duals[place] > 1.0
        # The residual of the row that is left grows at rate 1 in its direction.
        slopes = matrix @ inverse[:, place]
        slopes = -slopes if not rising else slopes
        entering, length = _entering(residuals, slopes, basis, excess[place])
        leaving = int(basis[place])
        residuals = residuals + length * slopes
        residuals[leaving] = length if rising else -length
        basis[place] = entering
        inverse = _inverse(matrix, basis)
        residuals[basis] = 0.0
    raise AnalysisError("The quantile regression did not end; its columns nearly depend.")


def _first_of_largest(values: Floats) -> int:
    """The place of the largest value, the first of those that differ by rounding alone."""
    return int(np.argmax(values >= values.max() - _TOLERANCE))


def _inverse(matrix: Floats, basis: Integers) -> Floats:
    return np.asarray(np.linalg.inv(matrix[basis]), dtype=np.float64)


def _entering(residuals: Floats, slopes: Floats, basis: Integers, gain: float) -> tuple[int, float]:
    """The row at which the sum stops falling, and the way there.

    Each row that is passed takes the size of its slope off the gain.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = -residuals / slopes
    lengths[basis] = np.inf
    lengths[~(lengths > 0)] = np.inf
    candidates = np.flatnonzero(np.isfinite(lengths))
    taken = 0
    # Few rows are passed as a rule: look at the nearest first.
    size = min(len(candidates), 64)
    while True:
        near = candidates
        if size < len(candidates):
            near = candidates[np.argpartition(lengths[candidates], size - 1)[:size]]
        near = near[np.argsort(lengths[near], kind="stable")]
        left = gain - np.cumsum(np.abs(slopes[near]))
        stops = np.flatnonzero(left <= _TOLERANCE)
        if len(stops):
            taken = int(near[stops[0]])
            return taken, float(lengths[taken])
        if size >= len(candidates):
            taken = int(near[-1])
            return taken, float(lengths[taken])
        size *= 8


def independent_rows(matrix: Floats, distance: Floats) -> Integers:
    """Linearly independent rows, as many as columns, those of the least distance first.

    Raises
    ------
    AnalysisError
        There are not so many: columns depend on each other.
    """
    columns = matrix.shape[1]
    order = np.argsort(distance, kind="stable")
    basis = np.zeros((0, columns))
    found: list[int] = []
    for row in order.tolist():
        vector = matrix[row]
        length = float(np.sqrt(vector @ vector))
        for _ in range(2):
            vector = vector - basis.T @ (basis @ vector)
        left = float(np.sqrt(vector @ vector))
        if left > 1e-7 * length:
            found.append(row)
            basis = np.vstack([basis, vector / left])
            if len(found) == columns:
                return np.array(found, dtype=np.int64)
    raise AnalysisError(
        "Columns of the model depend on each other, so that their quantile effects cannot be told "
        "apart."
    )
