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
# Where noise makes more than half of the differences between runs, it is noise that is looked at.
FEWEST_EXPLAINED_RATIO = 0.5
METHOD = "two-stage-least-squares"
REST_METHOD = "least-squares"


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
    observations : tuple of Observation
    rest : Interval or None
        By how much of itself everything but the delayed function changed under the largest delay.
    """

    function: str
    profiler: str
    role: Role
    delayed: str
    slope: Interval
    amount_count: int
    run_count: int
    observations: tuple[Observation, ...]
    rest: Interval | None = None


def causal_slope(observations: Sequence[Observation], confidence: float = 0.95) -> Interval:
    """The slope of attributed time on the program's time, through what the delay did to both.

    Both times hold the noise of their run, so that plain least squares would be drawn from the
    slope towards the function's share. The amount of delay was drawn at random and knows nothing
    of noise: it is the instrument of two-stage least squares (A. Wald, Ann. Math. Stat. 11, 1940).
    Without noise in the program's time both are the same.

    Assumes independent runs and equal variances around the line. No slope is called where the
    delay explains less than half of the variance of the program's time, or where the interval is
    wider than 0.25 to each side.

    Parameters
    ----------
    observations : sequence of Observation
        At least 3, with at least 2 amounts.
    """
    a = np.array([float(item.amount) for item in observations])
    x = np.array([item.program_s for item in observations])
    y = np.array([item.function_s for item in observations])
    count = len(x)
    if count < 3 or np.ptp(x) == 0 or np.ptp(a) == 0:
        return Unbounded(
            None, confidence, METHOD, "no-change", "The program's time did not change at all."
        )
    a, x, y = a - a.mean(), x - x.mean(), y - y.mean()
    with_time = float((a * x).sum())
    explained = with_time**2 / float((a**2).sum()) / float((x**2).sum())
    if explained < FEWEST_EXPLAINED_RATIO:
        return Unbounded(
            None,
            confidence,
            METHOD,
            "noise",
            f"The delay explains {100 * explained:.0f} % of the differences between runs only; "
            "a quieter machine or more runs would tell.",
        )
    slope = float((a * y).sum()) / with_time
    residuals = y - slope * x
    variance = float((residuals**2).sum()) / (count - 2)
    error = sqrt(variance * float((a**2).sum())) / abs(with_time)
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


def rest_change(observations: Sequence[Observation], confidence: float = 0.95) -> Interval:
    """By how much everything but the function changed under the largest delay, as a ratio of what
    it takes without delay: 0.02 is 2 % longer.

    The difference of program and function is drawn on the amount by least squares. What the
    function did not take the rest did, so this depends on the profiler too: where all of them
    agree, the delay disturbed the program.

    Parameters
    ----------
    observations : sequence of Observation
        At least 3, with at least 2 amounts.
    """
    a = np.array([float(item.amount) for item in observations])
    rest = np.array([item.program_s - item.function_s for item in observations])
    count = len(a)
    spread = float(((a - a.mean()) ** 2).sum()) if count else 0.0
    if count < 3 or spread == 0:
        return Unbounded(None, confidence, REST_METHOD, "few-runs", "Three runs are the fewest.")
    slope = float(((a - a.mean()) * (rest - rest.mean())).sum()) / spread
    without_s = float(rest.mean()) - slope * float(a.mean())
    if without_s <= 0:
        return Unbounded(
            None, confidence, REST_METHOD, "no-rest", "The function takes all of the time."
        )
    residuals = rest - without_s - slope * a
    error = sqrt(float((residuals**2).sum()) / (count - 2) / spread)
    scale = float(a.max()) / without_s
    half_width = student_quantile(two_sided(confidence), count - 2) * error * scale
    change = slope * scale
    return Estimate(change, change - half_width, change + half_width, confidence, REST_METHOD)
