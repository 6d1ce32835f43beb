"""Quantile regression by an interior point method: a few steps, whatever the number of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Portnoy and Koenker (1997): the share of the way to the boundary, and the most steps.
_STEP_SHARE = 0.9995
_MOST_STEPS = 50
_START_RESIDUAL = 1e-3


def near_solution(
    matrix: Floats, values: Floats, quantile: float, precision: float = 1e-5
) -> Floats:
    """Coefficients near the best ones; `vertex.best_vertex` makes them exact.

    Parameters
    ----------
    matrix : array, rows x columns
        Of full column rank.
    values : array
    quantile : float
    precision : float
        The duality gap at which to stop, relative to the sum of distances.

    Notes
    -----
    Portnoy and Koenker, Statistical Science 12 (1997) 279: the Frisch-Newton method on the dual
    problem ``max y'a, X'a = (1 - tau) X'1, 0 <= a <= 1``, with Mehrotra's predictor and
    corrector.
    """
    scale = float(np.abs(values - np.median(values)).mean()) or 1.0
    y = values / scale
    count = len(y)
    target = (1.0 - quantile) * matrix.sum(axis=0)
    a = np.full(count, 1.0 - quantile)
    s = 1.0 - a
    # From the least squares, moved so that the wanted share lies below.
    square = matrix.T @ matrix
    least = np.linalg.solve(square, np.stack([matrix.T @ y, matrix.sum(axis=0)], axis=1))
    shift = float(np.quantile(y - matrix @ least[:, 0], quantile))
    beta = -(least[:, 0] + shift * least[:, 1])
    r = -y - matrix @ beta
    r[np.abs(r) < 1e-12] = _START_RESIDUAL
    z = np.maximum(r, 0.0)
    w = z - r
    z += _START_RESIDUAL
    w += _START_RESIDUAL
    for _ in range(_MOST_STEPS):
        gap = -float(y @ a) - float(beta @ target) + float(w.sum())
        if gap <= precision * count:
            break
        a, s, beta, z, w = _step(matrix, (a, s, beta, z, w))
    return -beta * scale


_State = tuple[Floats, Floats, Floats, Floats, Floats]


def _step(matrix: Floats, state: _State) -> _State:
    """One predictor, and one corrector where the predictor meets a boundary."""
    a, s, beta, z, w = state
    inverse_a, inverse_s = 1.0 / a, 1.0 / s
    q = 1.0 / (z * inverse_a + w * inverse_s)
    r = z - w
    normal = matrix.T @ (matrix * q[:, None])
    d_beta = np.linalg.solve(normal, matrix.T @ (q * r))
    d_a = q * (matrix @ d_beta - r)
    d_z = -z * (1.0 + d_a * inverse_a)
    d_w = -w * (1.0 - d_a * inverse_s)
    primal = min(1.0, _STEP_SHARE * min(_reach(a, d_a), _reach(s, -d_a)))
    dual = min(1.0, _STEP_SHARE * min(_reach(z, d_z), _reach(w, d_w)))
    if min(primal, dual) < 1.0:
        before = float(z @ a + w @ s)
        after = float((z + dual * d_z) @ (a + primal * d_a) + (w + dual * d_w) @ (s - primal * d_a))
        centre = before * (after / before) ** 3 / (2 * len(a))
        # A predictor that soon meets a boundary says little of how the products bend.
        trust = primal * dual
        product_z, product_w = trust * d_a * d_z, -trust * d_a * d_w
        pull = centre * (inverse_a - inverse_s) - product_z * inverse_a + product_w * inverse_s
        d_beta = np.linalg.solve(normal, matrix.T @ (q * (r - pull)))
        d_a = q * (matrix @ d_beta - r + pull)
        d_z = (centre - product_z - z * d_a) * inverse_a - z
        d_w = (centre - product_w + w * d_a) * inverse_s - w
        primal = min(1.0, _STEP_SHARE * min(_reach(a, d_a), _reach(s, -d_a)))
        dual = min(1.0, _STEP_SHARE * min(_reach(z, d_z), _reach(w, d_w)))
    return (
        a + primal * d_a,
        s - primal * d_a,
        beta + dual * d_beta,
        z + dual * d_z,
        w + dual * d_w,
    )


def _reach(values: Floats, step: Floats) -> float:
    """How many steps until the first value is 0."""
    fastest = float((-step / values).max())
    return 1.0 / fastest if fastest > 0 else 1e20
