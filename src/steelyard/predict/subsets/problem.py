"""A regression whose predictors are to be chosen, scaled so that sums of squares lie near 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Indices
from steelyard.predict.linear_algebra import solve_least_squares

# A predictor of which less than this share (of its norm) is left beside those before it is
# collinear with them: it would be divided by what rounding left.
COLLINEAR_RATIO = 1e-6


@dataclass(frozen=True)
class Subset:
    """Chosen predictors, ascending, and the residual sum of squares of their model."""

    predictors: tuple[int, ...]
    residual_sum_squares: float


@dataclass(frozen=True)
class Subsets:
    """The best subset that was found of each size.

    Parameters
    ----------
    by_size : tuple of Subset
        Sizes 0, 1, 2, ... in order.
    total_sum_squares : float
        Of the response about its mean.
    observations : int
    exhaustive : bool
        Nothing better exists. False after a stepwise search or one that met its limit of work.
    """

    by_size: tuple[Subset, ...]
    total_sum_squares: float
    observations: int
    exhaustive: bool


@dataclass(frozen=True)
class Problem:
    """Centred predictors and response of norm 1.

    Parameters
    ----------
    gram : array, shape (p + 1, p + 1)
        Inner products of the independent predictors and, last, of the response.
    columns : array of int, shape (p,)
        Which column of the caller's table each predictor is.
    observations : int
    x, y : arrays
        The caller's own.
    """

    gram: Floats
    columns: Indices
    observations: int
    x: Floats
    y: Floats

    @property
    def predictors(self) -> int:
        """How many predictors are independent."""
        return len(self.columns)

    @property
    def degrees(self) -> int:
        """Degrees of freedom beside the mean: a model has fewer predictors than this."""
        return self.observations - 1


def make_problem(x: Floats, y: Floats) -> Problem:
    """The problem of explaining `y`, shape (n,), by columns of `x`, shape (n, p).

    Columns without variance take no part; where there are more observations than columns,
    neither do those that depend linearly on columns before them.
    """
    centred = x - x.mean(axis=0)
    response = y - y.mean()
    norms = np.sqrt((centred**2).sum(axis=0))
    columns = np.flatnonzero(norms > COLLINEAR_RATIO * np.abs(x).max(initial=1e-300, axis=0))
    scaled = centred[:, columns] / norms[columns]
    if len(columns) < len(y) - 1:
        kept = independent_columns(scaled)
        columns, scaled = columns[kept], scaled[:, kept]
    norm = float(np.sqrt(response @ response))
    table = np.column_stack([scaled, response / norm if norm > 0 else response])
    return Problem(table.T @ table, columns, len(y), x, y)


def independent_columns(scaled: Floats) -> Indices:
    """Columns of norm 1 that are no linear combination of those before them."""
    basis = np.zeros((scaled.shape[0], 0))
    kept: list[int] = []
    for index in range(scaled.shape[1]):
        rest = scaled[:, index]
        for _ in range(2):  # twice is enough (Giraud et al. 2005)
            rest = rest - basis @ (basis.T @ rest)
        left = float(np.sqrt(rest @ rest))
        if left > COLLINEAR_RATIO:
            basis = np.column_stack([basis, rest / left])
            kept.append(index)
    return np.asarray(kept, dtype=np.intp)


def finish(problem: Problem, chosen: list[list[int]], exhaustive: bool) -> Subsets:
    """Subsets with their residual sums computed anew from the data, free of swept rounding."""
    y = problem.y - problem.y.mean()
    by_size: list[Subset] = []
    for members in chosen:
        names = sorted(int(problem.columns[member]) for member in members)
        centred = problem.x[:, names] - problem.x[:, names].mean(axis=0)
        coefficients = solve_least_squares(centred, y)
        left = y - centred @ coefficients
        by_size.append(Subset(tuple(names), float(left @ left)))
    return Subsets(tuple(by_size), float(y @ y), problem.observations, exhaustive)
