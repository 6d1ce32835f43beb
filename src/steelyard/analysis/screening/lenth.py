"""Lenth's way to tell effects from chance where nothing is replicated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile

Floats = NDArray[np.float64]

# Lenth (1989), equations 1 to 3: 1.5 times the median of absolute contrasts is nearly a standard
# error; contrasts beyond 2.5 of them are left out of the second median.
_SCALE, _TRIM = 1.5, 2.5
# With fewer contrasts the median is one of the effects themselves.
FEWEST_CONTRASTS = 5


@dataclass(frozen=True)
class LenthMargins:
    """What a contrast must pass.

    Parameters
    ----------
    error : float
        The pseudo standard error of one contrast.
    degrees : float
        A third of the number of contrasts.
    margin, simultaneous : float
        For one contrast, and for all of them together.
    """

    error: float
    degrees: float
    margin: float
    simultaneous: float


def lenth_margins(contrasts: Floats, confidence: float) -> LenthMargins:
    """The margins of contrasts with one variance, most of which are chance.

    Parameters
    ----------
    contrasts : array
        At least `FEWEST_CONTRASTS`, uncorrelated.
    confidence : float

    Notes
    -----
    R. V. Lenth, Quick and easy analysis of unreplicated factorials, Technometrics 31 (1989) 469.
    It assumes effect sparsity: fewer than about half of the contrasts are more than chance.
    """
    sizes = np.abs(contrasts)
    first = _SCALE * float(np.median(sizes))
    kept = sizes[sizes < _TRIM * first] if first > 0 else sizes
    error = _SCALE * float(np.median(kept)) if len(kept) else first
    degrees = len(contrasts) / 3
    each = (1 + confidence) / 2
    together = (1 + confidence ** (1 / len(contrasts))) / 2
    return LenthMargins(
        error,
        degrees,
        t_quantile(each, degrees) * error,
        t_quantile(together, degrees) * error,
    )
