"""Welch's t between the values before each point and those from it on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from steelyard.analysis.history.series import Floats

# Larres 2012, section 5.1: the means of the 30 results before the current one and of the 5 runs
# starting from it; "the default t threshold that is considered to be significant is 9".
BEFORE_COUNT = 30
FROM_COUNT = 5
THRESHOLD = 9.0


@dataclass(frozen=True)
class WindowTests:
    """Welch's test at each point that has both windows.

    Parameters
    ----------
    first : int
        The index of the first point tested.
    statistics : array
        t, positive where the values rise; infinite where neither window varies and they differ.
    degrees : array
        Welch and Satterthwaite's degrees of freedom.
    """

    first: int
    statistics: Floats
    degrees: Floats


def window_tests(
    values: Floats, before: int = BEFORE_COUNT, onward: int = FROM_COUNT
) -> WindowTests:
    """Welch's t of the `onward` values from each point on against the `before` values before it.

    Notes
    -----
    Larres 2012, section 5.1; Welch, Biometrika 34 (1947) 28. Windows are summed one by one, not as
    differences of running sums, so that a small step of large counts is not lost.
    """
    tested = len(values) - before - onward + 1
    if tested <= 0:
        return WindowTests(before, np.zeros(0), np.zeros(0))
    # Of windows that hold one value alone the variance is exactly 0.
    earlier = sliding_window_view(values, before)[:tested]
    later = sliding_window_view(values, onward)[before : before + tested]
    own, other = earlier.var(axis=1, ddof=1) / before, later.var(axis=1, ddof=1) / onward
    own[np.ptp(earlier, axis=1) == 0.0] = 0.0
    other[np.ptp(later, axis=1) == 0.0] = 0.0
    differences = later.mean(axis=1) - earlier.mean(axis=1)
    squares = own + other
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.where(
            squares > 0.0,
            differences / np.sqrt(squares),
            np.where(earlier[:, 0] == later[:, 0], 0.0, np.sign(differences) * np.inf),
        )
        degrees = squares**2 / (own**2 / (before - 1) + other**2 / (onward - 1))
    return WindowTests(before, statistics, np.where(squares > 0.0, degrees, float(onward - 1)))
