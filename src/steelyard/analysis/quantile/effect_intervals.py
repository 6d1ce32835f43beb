"""Which interval a quantile effect gets, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile, t_two_sided_p
from steelyard.analysis.linear.model_matrix import ModelMatrix
from steelyard.analysis.quantile.cluster_bootstrap import cluster_deviations
from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.quantile.point_intervals import METHOD as POINTS_METHOD
from steelyard.analysis.quantile.point_intervals import point_quantiles
from steelyard.analysis.quantile.rank_inversion import (
    RankProblem,
    equal_variances,
    rank_bound,
    rank_statistic,
    weighted_variances,
)
from steelyard.analysis.quantile.sandwich import densities, sandwich_covariance
from steelyard.analysis.quantile.vertex import Vertex

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Intervals = Literal["auto", "rank", "rank-iid", "points", "sandwich", "cluster"]

# R's quantreg inverts rank tests up to so many rows; beyond, the walk takes too long.
RANK_ROWS = 1000
# Of rows, those that must have a density at the quantile for densities to weigh them.
_DENSE_SHARE = 0.9


@dataclass(frozen=True)
class QuantileQuestion:
    """What is asked of a quantile regression.

    Parameters
    ----------
    quantiles : tuple of float
    confidence : float
    intervals : str
        ``"rank"`` (inverted rank test, rows with densities of their own), ``"rank-iid"`` (all of
        one density), ``"points"`` (each point of the design by its own order), ``"sandwich"``,
        ``"cluster"``; ``"auto"``: clusters where there are any, ranks up to 1000 rows (points
        where those differ in spread), else the sandwich.
    cluster : array of int or None
        For each row what it belongs to.
    seed : int
    """

    quantiles: tuple[float, ...]
    confidence: float = 0.95
    intervals: Intervals = "auto"
    cluster: Integers | None = None
    seed: int = 1

    def chosen(self, count: int) -> Intervals:
        """The kind of interval for so many rows."""
        if self.intervals != "auto":
            return self.intervals
        if self.cluster is not None:
            return "cluster"
        return "rank" if count <= RANK_ROWS else "sandwich"

    def for_unlike_points(self, count: int) -> QuantileQuestion:
        """The same of points that differ in spread, which few rows of ranks do not allow for."""
        wanted = self.intervals == "auto" and self.chosen(count) == "rank"
        return replace(self, intervals="points") if wanted else self


@dataclass(frozen=True)
class Bounds:
    """The bounds of one effect; None where there are none. `p` is None where nothing is tested."""

    low: float | None
    high: float | None
    p: float | None
    method: str


def bounds_of(
    problem: QuantileProblem,
    vertex: Vertex,
    quantile: float,
    question: QuantileQuestion,
    model: ModelMatrix | None,
) -> list[Bounds]:
    """Of every effect at one quantile; `model` is there where it has a column for each point."""
    count, width = problem.matrix.shape
    kind = question.chosen(count)
    if count <= width:
        return [Bounds(None, None, None, kind)] * width
    if kind == "points":
        found = _point_bounds(problem, vertex, quantile, question.confidence, model)
        if found is not None:
            return found
        kind = "rank" if count <= RANK_ROWS else "sandwich"
    if kind in ("rank", "rank-iid"):
        return _rank_bounds(problem, vertex, quantile, question.confidence, kind == "rank")
    if kind == "cluster":
        # As many effects as clusters leave nothing to tell how much clusters differ.
        if question.cluster is None or int(question.cluster.max()) + 1 <= width:
            return [Bounds(None, None, None, kind)] * width
        deviations = cluster_deviations(problem, vertex, quantile, question.cluster, question.seed)
        degrees = max(1.0, float(question.cluster.max() + 1 - width))
        method = "cluster-bootstrap"
    else:
        density = densities(problem, quantile)
        covariance = sandwich_covariance(problem.matrix, density, quantile)
        if covariance is None:
            return [Bounds(None, None, None, kind)] * width
        deviations = np.sqrt(np.diag(covariance))
        degrees, method = float(count - width), "student-sandwich"
    limit = t_quantile(0.5 + question.confidence / 2, degrees)
    return [
        Bounds(
            value - limit * deviation,
            value + limit * deviation,
            t_two_sided_p(value / deviation, degrees) if deviation > 0 else None,
            method,
        )
        for value, deviation in zip(vertex.coefficients.tolist(), deviations.tolist(), strict=True)
    ]


def _point_bounds(
    problem: QuantileProblem,
    vertex: Vertex,
    quantile: float,
    confidence: float,
    model: ModelMatrix | None,
) -> list[Bounds] | None:
    """None where there are terms that no point alone decides, or points with too few rows."""
    if model is None:
        return None
    points = point_quantiles(
        model.matrix, model.point, problem.values, vertex.coefficients, quantile
    )
    found: list[Bounds] = []
    for column in range(len(model.columns)):
        low, high = points.bounds(column, confidence)
        if low is None or high is None:
            return None
        found.append(Bounds(low, high, points.p(column), POINTS_METHOD))
    return found


def _rank_bounds(
    problem: QuantileProblem, vertex: Vertex, quantile: float, confidence: float, weighted: bool
) -> list[Bounds]:
    matrix, values = problem.matrix, problem.values
    count, width = matrix.shape
    variances, method = equal_variances(matrix), "rank-iid"
    if weighted:
        density = densities(problem, quantile)
        # Where planes cross, rows have no density; some of them do no harm.
        if float((density > 0).mean()) >= _DENSE_SHARE:
            variances, method = weighted_variances(matrix, density), "rank"
    ranks = RankProblem(matrix, values, quantile, vertex, variances)
    degrees = count - width
    cutoff = t_quantile(0.5 + confidence / 2, degrees)
    found: list[Bounds] = []
    for column in range(width):
        p = None
        if width > 1:
            without = QuantileProblem(np.delete(matrix, column, axis=1), values).solve(quantile)
            p = t_two_sided_p(rank_statistic(ranks, column, without), degrees)
        low = rank_bound(ranks, column, cutoff, upwards=False)
        found.append(Bounds(low, rank_bound(ranks, column, cutoff, upwards=True), p, method))
    return found
