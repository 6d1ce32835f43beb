"""scipy's functions that predictions use, with types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize as _untyped_optimize  # pyright: ignore[reportMissingTypeStubs]
from scipy import special as _untyped_special  # pyright: ignore[reportMissingTypeStubs]

from steelyard.predict.arrays import Floats

_optimize: Any = _untyped_optimize
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
