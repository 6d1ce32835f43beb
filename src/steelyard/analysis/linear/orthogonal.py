"""Orthogonal columns that span a model, and those that the others already determine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

# In extended precision where that is cheap.
Floats = NDArray[np.floating[Any]]

# A column of which less is left after the others is theirs: rounding leaves about 1e-16 of an
# exact combination, and NIST's hardest polynomial (Filip) still has 1e-10.
_DEPENDENT = 1e-12
# In extended precision, where the hardware has it, the small problems of a designed experiment
# cost nothing, and ill-conditioned polynomials keep three digits more.
_EXTENDED_WORK = 4_000_000


@dataclass(frozen=True)
class Orthogonal:
    """``matrix[:, kept] = basis @ triangle``, and ``matrix[:, dropped]`` by `kept` through
    `combinations`.

    Parameters
    ----------
    kept, dropped : tuple of int
        Columns, in their order. A dropped one is a combination of kept ones before it.
    basis : array, rows x kept
        Orthonormal.
    triangle : array, kept x kept
        Upper triangular.
    inverse : array, kept x kept
        Of `triangle`.
    combinations : array, kept x dropped
    """

    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    basis: Floats
    triangle: Floats
    inverse: Floats
    combinations: Floats

    def coefficients(self, values: Floats) -> Floats:
        """The least-squares coefficients of the kept columns, with one step of refinement."""
        basis = self.basis
        projected = basis.T @ values
        projected = projected + basis.T @ (values - basis @ projected)
        return self.inverse @ projected


def orthogonalised(matrix: Floats) -> Orthogonal:
    """Gram and Schmidt's process with every column projected twice, left to right.

    Notes
    -----
    "Twice is enough" (Giraud, Langou and Rozložník, Computers & Mathematics with Applications
    50 (2005) 1069): the basis is orthogonal to rounding, and the result as stable as
    Householder's.
    """
    rows, columns = matrix.shape
    if rows * columns * columns <= _EXTENDED_WORK:
        return _twice_projected(matrix.astype(np.longdouble))
    # Blocked reflections first: what is left to look at is a square as small as the model.
    outer, square = np.linalg.qr(matrix)
    inner = _twice_projected(square)
    return replace(inner, basis=outer @ inner.basis)


def _twice_projected(work: Floats) -> Orthogonal:
    rows, columns = work.shape
    basis = np.zeros((rows, min(rows, columns)), dtype=work.dtype)
    triangle = np.zeros((basis.shape[1], columns), dtype=work.dtype)
    kept: list[int] = []
    dropped: list[int] = []
    for column in range(columns):
        vector = work[:, column].copy()
        length = float(np.sqrt(vector @ vector))
        used = basis[:, : len(kept)]
        for _ in range(2):
            part = used.T @ vector
            vector -= used @ part
            triangle[: len(kept), column] += part
        left = float(np.sqrt(vector @ vector))
        if left <= _DEPENDENT * length or len(kept) == basis.shape[1]:
            dropped.append(column)
            continue
        basis[:, len(kept)] = vector / left
        triangle[len(kept), column] = left
        kept.append(column)
    rank = len(kept)
    inverse = _inverse(triangle[:rank][:, kept])
    combinations = inverse @ triangle[:rank][:, dropped]
    return Orthogonal(
        kept=tuple(kept),
        dropped=tuple(dropped),
        basis=basis[:, :rank],
        triangle=triangle[:rank][:, kept],
        inverse=inverse,
        combinations=combinations,
    )


def _inverse(triangle: Floats) -> Floats:
    """The inverse of an upper triangle, by back substitution."""
    size = len(triangle)
    inverse = np.zeros_like(triangle)
    for row in range(size - 1, -1, -1):
        unit = np.zeros(size, dtype=triangle.dtype)
        unit[row] = 1
        inverse[row] = (unit - triangle[row, row + 1 :] @ inverse[row + 1 :]) / triangle[row, row]
    return inverse
