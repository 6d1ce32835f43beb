"""numpy's linear algebra with types."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.predict.arrays import Floats

_untyped: Any = np.linalg


def solve_least_squares(x: Floats, y: Floats) -> Floats:
    """The coefficients, shape (p,), of least squares; the smallest ones where several fit."""
    return _untyped.lstsq(x, y, rcond=None)[0]


def pseudo_inverse(symmetric: Floats) -> Floats:
    """The pseudo-inverse of a symmetric matrix."""
    return _untyped.pinv(symmetric, hermitian=True)
