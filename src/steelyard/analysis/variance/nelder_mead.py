"""The minimum of a function without its derivatives, by scipy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from steelyard.analysis.variance.nested_values import Floats

_STEPS = 5000
_PRECISION = 1e-8
_FIRST_STEP = 0.3


def simplex_minimum(function: Callable[[Floats], float], start: Floats) -> Floats:
    """Where a function of non-negative numbers is least, by a simplex (Nelder and Mead, Computer
    Journal 7 (1965) 308).

    Parameters
    ----------
    function : callable
        Takes an array; alike for a number and its negative.
    start : array
        Where to begin; empty gives itself back.
    """
    if not len(start):
        return start
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

    simplex = np.vstack([start, start + _FIRST_STEP * np.eye(len(start))])
    options = {
        "initial_simplex": simplex, "maxfev": _STEPS, "xatol": _PRECISION, "fatol": np.inf,
    }  # fmt: skip
    minimize = cast("Any", optimize).minimize
    found = minimize(function, start, method="Nelder-Mead", options=options)
    return np.abs(np.asarray(found.x, dtype=np.float64))
