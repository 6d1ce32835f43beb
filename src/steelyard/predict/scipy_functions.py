"""scipy's functions that predictions use, with types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize as _untyped_optimize  # pyright: ignore[reportMissingTypeStubs]
from scipy import sparse as _untyped_sparse  # pyright: ignore[reportMissingTypeStubs]
from scipy import special as _untyped_special  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse import csgraph as _untyped_graphs  # pyright: ignore[reportMissingTypeStubs]

from steelyard.predict.arrays import Floats, Indices

_optimize: Any = _untyped_optimize
_sparse: Any = _untyped_sparse
_graphs: Any = _untyped_graphs
_special: Any = _untyped_special


def logistic_function(logits: Floats) -> Floats:
    """``1 / (1 + exp(-logits))``."""
    return np.asarray(_special.expit(logits), dtype=float)


def beta_quantile(a: Floats, b: Floats, share: float) -> Floats:
    """The quantile of beta distributions."""
    return np.asarray(_special.betaincinv(a, b, share), dtype=float)


def bounded_minimum(
    loss: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: Sequence[tuple[float | None, float | None]],
) -> Floats:
    """Where a smooth function with its gradient is least within bounds (L-BFGS-B)."""
    found = _optimize.minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
    return np.asarray(found.x, dtype=float)


def strong_components(count: int, edges: Sequence[tuple[int, int]]) -> Indices:
    """For each node of a directed graph a number, equal where each of two leads to the other."""
    begins, ends = np.array(edges, int).reshape(-1, 2).T
    graph = _sparse.csr_matrix((np.ones(len(begins)), (begins, ends)), shape=(count, count))
    found = _graphs.connected_components(graph, directed=True, connection="strong")[1]
    return np.asarray(found, dtype=int)
