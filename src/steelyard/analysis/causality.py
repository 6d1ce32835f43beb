"""Whether a profiler's claims hold when acted upon: slopes of attributed on actual time.

Mytkowicz (2010), section 3.5: a function is made slower by known amounts; if a profiler is right,
the time that it attributes to the function grows by just what the program takes longer, so that
the slope is 1. A slope of 0 means that the profiler does not see the function at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from steelyard.analysis.mean import two_sided
from steelyard.analysis.student import student_quantile
from steelyard.core.estimate import Estimate, Interval, Unbounded

Role = Literal["delayed", "control"]
# A slope whose half-width is larger tells neither 0 from 1 nor 1 from 1.5.
WIDEST_HALF_WIDTH = 0.25
METHOD = "least-squares"


@dataclass(frozen=True)
class Observation:
    """One run: which amount of delay, the program's time, and the time that the profiler
    attributed to the function, in seconds."""

    amount: int
    program_s: float
    function_s: float


@dataclass(frozen=True)
class Slope:
    """How much of a delay a profiler sees in one function.

    Parameters
    ----------
    function, profiler : str
    role : str
        ``"delayed"``: the function that was delayed, whose slope should be 1. ``"control"``:
        another one, whose slope should be 0.
    delayed : str
        The function that was delayed.
    slope : Interval
        Unbounded where noise hides it.
    amount_count, run_count : int
        Different amounts, and runs in all.
    """

    function: str
    profiler: str
    role: Role
    delayed: str
    slope: Interval
    amount_count: int
    run_count: int
    observations: tuple[Observation, ...]


def causal_slope(observations: Sequence[Observation], confidence: float = 0.95) -> Interval:
    """The slope of attributed time on the program's time, by least squares.

    Assumes independent runs and equal variances around the line. Where the interval is wider
    than 0.25 to each side no slope is called.

    Parameters
    ----------
    observations : sequence of Observation
        At least 3, with at least 2 amounts.
    """
    x = np.array([item.program_s for item in observations])
    y = np.array([item.function_s for item in observations])
    count = len(x)
    spread = float(((x - x.mean()) ** 2).sum()) if count else 0.0
    if count < 3 or spread == 0:
        return Unbounded(
            None, confidence, METHOD, "no-change", "The program's time did not change at all."
        )
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    residuals = y - y.mean() - slope * (x - x.mean())
    error = sqrt(float((residuals**2).sum()) / (count - 2) / spread)
    half_width = student_quantile(two_sided(confidence), count - 2) * error
    if half_width > WIDEST_HALF_WIDTH:
        return Unbounded(
            slope,
            confidence,
            METHOD,
            "noise",
            f"The slope is known to ± {half_width:.2f} only; more runs would tell.",
        )
    return Estimate(slope, slope - half_width, slope + half_width, confidence, METHOD)
