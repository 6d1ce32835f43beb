"""Where two well-known rules would have stopped warming up, which decide as they go."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.tables.data_columns import Floats

# Kalibera and Jones, ISMM 2013, section 2, on both.
_DACAPO_WINDOW = 3
_DACAPO_VARIATION = 0.03
_GEORGES_WINDOW = 10
_GEORGES_HALF_WIDTH = 0.05


@dataclass(frozen=True)
class HeuristicChoice:
    """What a rule chose in one execution.

    Parameters
    ----------
    name : str
        ``"dacapo"`` or ``"georges"``.
    first, count : int or None
        The iterations that it would keep; None where it never decides.
    mean : float or None
        Of those.
    """

    name: str
    first: int | None
    count: int
    mean: float | None


def dacapo(values: Floats) -> HeuristicChoice:
    """The harness of DaCapo 9.12: it runs until the variation of the last 3 iterations is below
    3 %, and the next iteration is the result."""
    found = _first_below(values[:-1], _DACAPO_WINDOW, _DACAPO_VARIATION)
    if found is None:
        return HeuristicChoice("dacapo", None, 0, None)
    first = found + _DACAPO_WINDOW
    return HeuristicChoice("dacapo", first, 1, float(values[first]))


def georges(values: Floats) -> HeuristicChoice:
    """Georges, Buytaert and Eeckhout, OOPSLA 2007: the first 10 iterations whose 95 % interval
    of the mean has a half-width below 5 % of it."""
    quantile = student_quantile(0.975, _GEORGES_WINDOW - 1)
    most = _GEORGES_HALF_WIDTH * sqrt(_GEORGES_WINDOW) / quantile
    first = _first_below(values, _GEORGES_WINDOW, most)
    if first is None:
        return HeuristicChoice("georges", None, 0, None)
    mean = float(values[first : first + _GEORGES_WINDOW].mean())
    return HeuristicChoice("georges", first, _GEORGES_WINDOW, mean)


def _first_below(values: Floats, window: int, variation: float) -> int | None:
    """Where the first window begins whose coefficient of variation is below `variation`."""
    if len(values) < window:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values, window)
    below = windows.std(axis=1, ddof=1) < variation * np.abs(windows.mean(axis=1))
    return int(np.argmax(below)) if bool(below.any()) else None
