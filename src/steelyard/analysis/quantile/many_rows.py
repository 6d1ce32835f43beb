"""Quantile regression of many rows: solve for a sample, then for the rows that its plane leaves
in doubt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.quantile.interior_point import near_solution
from steelyard.analysis.quantile.vertex import Vertex, best_vertex, independent_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Below so many rows the exact walk alone is as fast.
_FEW_ROWS = 1000
# Portnoy and Koenker (1997), section 5: a sample of (columns x rows)^(2/3), and 0.8 of that
# many rows around its plane.
_SAMPLE_POWER = 2.0 / 3.0
_DOUBT_SHARE = 0.8
_SAMPLE_SEED = 19971101


class QuantileProblem:
    """The rows of a quantile regression, to be solved at several quantiles.

    Parameters
    ----------
    matrix : array, rows x columns
        Of full column rank.
    values : array
    """

    def __init__(self, matrix: Floats, values: Floats) -> None:
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        self.values = values
        count, columns = matrix.shape
        size = int((columns * count) ** _SAMPLE_POWER)
        self._sample: Integers | None = None
        if count > max(_FEW_ROWS, 4 * size):
            generator = np.random.Generator(np.random.SFC64(_SAMPLE_SEED))
            self._sample = generator.choice(count, size, replace=False).astype(np.int64)
            factor = np.linalg.cholesky(np.linalg.inv(self.matrix.T @ self.matrix))
            self._band = np.sqrt(((self.matrix @ factor) ** 2).sum(axis=1))

    def solve(self, quantile: float, basis: Integers | None = None) -> Vertex:
        """The exact solution at one quantile, from a basis where one is known to be near."""
        if basis is not None or len(self.values) <= _FEW_ROWS:
            return best_vertex(self.matrix, self.values, quantile, basis)
        if self._sample is None:
            return _solved(self.matrix, self.values, quantile)
        first = _solved(self.matrix[self._sample], self.values[self._sample], quantile)
        doubtful = self._doubtful(first.coefficients, quantile)
        near = self._reduced(first.coefficients, doubtful, quantile)
        return best_vertex(self.matrix, self.values, quantile, near)

    def _doubtful(self, coefficients: Floats, quantile: float) -> NDArray[np.bool_]:
        """The rows that the sample's plane may have on the wrong side."""
        assert self._sample is not None
        count = len(self.values)
        scores = (self.values - self.matrix @ coefficients) / np.maximum(self._band, 1e-12)
        half = _DOUBT_SHARE * len(self._sample) / 2
        first = max(0, int(count * quantile - half))
        last = min(count - 1, int(count * quantile + half))
        ends = np.partition(scores, (first, last))
        return (scores >= ends[first]) & (scores <= ends[last])

    def _reduced(
        self, coefficients: Floats, doubtful: NDArray[np.bool_], quantile: float
    ) -> Integers:
        """The rows that the plane goes through when all others are one row above and one below."""
        above = ~doubtful & (self.values > self.matrix @ coefficients)
        below = ~doubtful & ~above
        rows = np.flatnonzero(doubtful)
        sums = [self.matrix[side].sum(axis=0) for side in (above, below)]
        totals = [float(self.values[side].sum()) for side in (above, below)]
        matrix = np.vstack([self.matrix[rows], *(s[None] for s in sums)])
        values = np.append(self.values[rows], totals)
        found = _solved(matrix, values, quantile)
        inside = found.basis[found.basis < len(rows)]
        if len(inside) == len(found.basis):
            return rows[inside].astype(np.int64)
        distances = np.abs(self.values - self.matrix @ found.coefficients)
        return independent_rows(self.matrix, distances)


def _solved(matrix: Floats, values: Floats, quantile: float) -> Vertex:
    """The vertex at the end of an interior way."""
    near = near_solution(matrix, values, quantile)
    basis = independent_rows(matrix, np.abs(values - matrix @ near))
    return best_vertex(matrix, values, quantile, basis)
