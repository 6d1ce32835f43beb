"""The spread of quantile effects when rows belong together, such as iterations of executions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.quantile.vertex import Vertex
from steelyard.core.rng import derive_seed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RESAMPLE_COUNT = 400
# Up to so many rows the walk from the old solution to the new one is the faster way.
_WALKED_ROWS = 5000


def cluster_deviations(
    problem: QuantileProblem, vertex: Vertex, quantile: float, cluster: Integers, seed: int
) -> Floats:
    """The standard deviation of each coefficient over reweighted clusters.

    Parameters
    ----------
    problem : QuantileProblem
    vertex : Vertex
        Its solution at the quantile.
    quantile : float
    cluster : array of int
        For each row its cluster; clusters are independent of each other, rows of one need not be.
    seed : int

    Notes
    -----
    All rows of a cluster get one exponential weight (Bose and Chatterjee, Journal of Statistical
    Planning and Inference 117 (2003) 225). Unlike clusters drawn with replacement, weights leave
    no point of the design without rows.
    """
    cluster_count = int(cluster.max()) + 1
    generator = np.random.Generator(np.random.SFC64(derive_seed(seed, "clusters", str(quantile))))
    found = np.empty((RESAMPLE_COUNT, problem.matrix.shape[1]))
    walked = len(problem.values) <= _WALKED_ROWS
    for resample in range(RESAMPLE_COUNT):
        weights = generator.exponential(size=cluster_count)[cluster]
        again = QuantileProblem(problem.matrix * weights[:, None], problem.values * weights)
        found[resample] = again.solve(quantile, vertex.basis if walked else None).coefficients
    # As many clusters as coefficients are spent on these, as rows are in a residual variance.
    width = problem.matrix.shape[1]
    spent = cluster_count / max(1, cluster_count - width)
    return found.std(axis=0, ddof=1) * np.sqrt(spent)
