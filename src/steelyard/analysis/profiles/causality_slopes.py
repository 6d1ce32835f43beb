"""Whether a profiler's claims hold when acted upon: slopes of attributed on actual time.

Mytkowicz (2010), section 3.5: a function is made slower by known amounts; if a profiler is right,
the time that it attributes to the function grows by just what the program takes longer, so that
the slope is 1. A slope of 0 means that the profiler does not see the function at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.estimate import Estimate, Interval, Unbounded

Role = Literal["delayed", "control"]
SlopeVerdict = Literal["right", "too-little", "too-much", "blames", "undecided"]
# Slopes from 0.95 to 1.05 are as good as 1; a verdict needs an interval that is not much wider. The
# ratio of promised to measured gain is such a slope, for an amount of one's own making.
AS_GOOD = 0.05
KNOWN_WELL = 0.15
# A slope whose half-width is larger tells neither 0 from 1 nor 1 from 1.5.
WIDEST_HALF_WIDTH = 0.25
# Below this the largest delay has not done what it was made for.
FEWEST_GROWTH_RATIO = 0.1
# Standard errors by which a growth is clear of noise: a chance of one in a thousand.
_CLEARLY = 3.0
METHOD = "sen-line-bootstrap"
# Standard errors are stable to a few percent with 200 (Efron and Tibshirani 1993, section 6.4).
_RESAMPLE_COUNT, _RESAMPLE_SEED = 400, 1
# Fewer blocks have no speed that is most of theirs.
_FEWEST_BLOCKS = 3
# Two are taken by the line, and of two others nobody knows how they vary.
_FEWEST_RUNS = 4
# A delay by string instructions takes as long to begin as 12 more turns would (x86-64, KVM guest).
# Of fewer turns than these that is more than a twentieth: time does not go with turns.
_FEWEST_TURNS_OF_A_LINE = 250
# The line and the speeds of blocks determine each other; they settle in two rounds, three are sure.
_SPEED_ROUNDS = 3

Values = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
# From the amount and the program's time of each run to the time that its amount makes of it.
Fit = Callable[[Values, Values], Values]


@dataclass(frozen=True)
class Observation:
    """One run: which amount of delay, the program's time, and the time that the profiler
    attributed to the function, in seconds. Runs of a block followed each other, each with another
    amount."""

    amount: int
    program_s: float
    function_s: float
    block: int = 0


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

    @property
    def verdict(self) -> SlopeVerdict:
        """Whether the slope is what it should be, 1 where the function was delayed, else 0.

        ``"blames"`` is a control to which a delay was attributed; ``"undecided"`` is a slope that
        is not known, or not well enough to be called right.
        """
        found = self.slope
        if not isinstance(found, Estimate):
            return "undecided"
        wanted = 1.0 if self.role == "delayed" else 0.0
        if not found.low - AS_GOOD <= wanted <= found.high + AS_GOOD:
            if self.role == "control":
                return "blames"
            return "too-little" if found.estimate < wanted else "too-much"
        return "right" if found.half_width <= KNOWN_WELL else "undecided"


def causal_slope(
    observations: Sequence[Observation], confidence: float = 0.95, *, begins_at_once: bool = False
) -> Interval:
    """The slope of attributed time on the program's time, through what the delay did to both.

    A busy machine makes some runs longer as a whole, by up to twice; that is not the delay's doing,
    and the profiler's share does not mind. So the program's time without and with each delay is a
    line through all runs (the median of the slopes between them: P. K. Sen, J. Am. Stat. Assoc. 63,
    1968), once each run was divided by how slow the machine was in its block: the median of what
    runs of the block take beside that line. The time attributed is each run's share of the line,
    and the slope is that of least squares through those. The interval is Student's with the
    standard error of resampled runs (B. Efron, R. Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 6).

    Assumes independent runs, and that a delay of twice as many turns takes twice as long. Where the
    largest has few turns it does not, and the time with each is the median of its own runs. No
    slope is called where the delay does not make the program clearly longer, or where the interval
    is wider than 0.25 to each side.

    Parameters
    ----------
    observations : sequence of Observation
        At least 4, with at least 2 amounts.
    begins_at_once : bool
        The first turn of the delay takes no longer than the others: its time goes with its turns,
        however few they are.
    """
    a = np.array([float(item.amount) for item in observations])
    x = np.array([item.program_s for item in observations])
    y = np.array([item.function_s for item in observations])
    b = np.array([item.block for item in observations])
    count = len(x)
    if count < _FEWEST_RUNS:
        return _too_few_runs(confidence)
    if np.ptp(x) == 0 or np.ptp(a) == 0:
        return Unbounded(
            None, confidence, METHOD, "no-change", "The program's time did not change at all."
        )
    fit = _fit_of(a, begins_at_once)
    a = a / a.max()
    growth, slope = _growth_and_slope(a, x, y, b, fit)
    drawn = np.array([_growth_and_slope(a[k], x[k], y[k], b[k], fit) for k in _resamples(a)])
    growth_error = _standard_error(drawn[:, 0])
    if growth < FEWEST_GROWTH_RATIO or growth < _CLEARLY * growth_error:
        return Unbounded(
            None,
            confidence,
            METHOD,
            "noise",
            f"The largest delay makes the program {100 * growth:.0f} ± {100 * growth_error:.0f} % "
            "longer, which is not clear of noise; a quieter machine, longer delays or more runs "
            "would tell.",
        )
    half_width = _half_width(drawn[:, 1], count, confidence)
    if half_width > WIDEST_HALF_WIDTH:
        return Unbounded(
            slope,
            confidence,
            METHOD,
            "noise",
            f"The slope is known to ± {half_width:.2f} only; longer delays or more runs would "
            "tell.",
        )
    return Estimate(slope, slope - half_width, slope + half_width, confidence, METHOD)


def _too_few_runs(confidence: float) -> Unbounded:
    said = f"A slope takes {_FEWEST_RUNS} runs with at least two amounts; ask for more by --runs."
    return Unbounded(None, confidence, METHOD, "few-runs", said)


def _standard_error(drawn: Values) -> float:
    """Half of what the middle 68 % of draws span: a few draws of busy runs alone lie far out."""
    low, high = np.quantile(drawn, (0.1587, 0.8413))
    return float(high - low) / 2


def _half_width(drawn: Values, count: int, confidence: float) -> float:
    """Student's, with what resampling leaves out: it divides by the count, a line takes two."""
    error = _standard_error(drawn) * sqrt(count / (count - 2))
    return student_quantile(two_sided(confidence), count - 2) * error


def _fit_of(turns: Values, begins_at_once: bool) -> Fit:
    is_line = begins_at_once or turns.max() >= _FEWEST_TURNS_OF_A_LINE
    return _line_times if is_line else _median_times


def _program_times(a: Values, x: Values, b: Indices, fit: Fit) -> Values:
    """What each run's amount makes of the program's time, at the speed of most blocks."""
    times = fit(a, x)
    blocks, of = np.unique(b, return_inverse=True)
    if len(blocks) < _FEWEST_BLOCKS:
        return times
    for _ in range(_SPEED_ROUNDS):
        beside = x / times
        slowness = np.array([_median(beside[of == number]) for number in range(len(blocks))])
        times = fit(a, x / (slowness / _median(slowness))[of])
    return times


def _line_times(a: Values, x: Values) -> Values:
    without, added = _sen_line(a, x)
    return without + added * a


def _median_times(a: Values, x: Values) -> Values:
    amounts, of = np.unique(a, return_inverse=True)
    return np.array([_median(x[of == number]) for number in range(len(amounts))])[of]


def _sen_line(a: Values, x: Values) -> tuple[float, float]:
    first, second = np.triu_indices(len(a), 1)
    apart = a[first] != a[second]
    between = (x[second] - x[first])[apart] / (a[second] - a[first])[apart]
    added = _median(between)
    return _median(x - added * a), added


def _median(values: Values) -> float:
    """Of a few finite values, thousands of times: numpy's own takes five times as long to begin."""
    middle = len(values) // 2
    ordered = np.sort(values)
    if len(values) % 2:
        return float(ordered[middle])
    return float((ordered[middle - 1] + ordered[middle]) / 2)


def _growth_and_slope(a: Values, x: Values, y: Values, b: Indices, fit: Fit) -> tuple[float, float]:
    """By how much the largest delay makes the program longer, as a ratio; and the slope."""
    times = _program_times(a, x, b, fit)
    growth = float(times[a.argmax()] / times[a.argmin()]) - 1
    centred = times - times.mean()
    spread = float((centred**2).sum())
    return growth, float((centred * (y / x * times)).sum()) / spread if spread else 0.0


def _resamples(a: Values) -> Iterator[Indices]:
    """Runs drawn with replacement; draws in which all have one amount say nothing."""
    generator = np.random.default_rng(_RESAMPLE_SEED)
    for _ in range(_RESAMPLE_COUNT):
        drawn = generator.integers(0, len(a), len(a))
        if np.ptp(a[drawn]) > 0:
            yield drawn


def rest_change(
    observations: Sequence[Observation], confidence: float = 0.95, *, begins_at_once: bool = False
) -> Interval:
    """By how much everything but the function changed under the largest delay, as a ratio of what
    it takes without delay: 0.02 is 2 % longer.

    What the function did not take the rest did, so this depends on the profiler too: where all of
    them agree, the delay disturbed the program. Times are those of `causal_slope`.

    Parameters
    ----------
    observations : sequence of Observation
        At least 4, with at least 2 amounts.
    begins_at_once : bool
        The first turn of the delay takes no longer than the others: its time goes with its turns,
        however few they are.
    """
    a = np.array([float(item.amount) for item in observations])
    if len(a) < _FEWEST_RUNS or np.ptp(a) == 0:
        return _too_few_runs(confidence)
    fit = _fit_of(a, begins_at_once)
    a = a / a.max()
    x = np.array([item.program_s for item in observations])
    y = np.array([item.function_s for item in observations])
    b = np.array([item.block for item in observations])
    change = _change_of_rest(a, x, y, b, fit)
    if change is None:
        return Unbounded(None, confidence, METHOD, "no-rest", "The function takes all of the time.")
    found = (_change_of_rest(a[k], x[k], y[k], b[k], fit) for k in _resamples(a))
    drawn = np.array([value for value in found if value is not None])
    half_width = _half_width(drawn, len(a), confidence)
    return Estimate(change, change - half_width, change + half_width, confidence, METHOD)


def _change_of_rest(a: Values, x: Values, y: Values, b: Indices, fit: Fit) -> float | None:
    rest = (1 - y / x) * _program_times(a, x, b, fit)
    centred = a - a.mean()
    slope = float((centred * rest).sum() / (centred**2).sum())
    begin = float(rest.mean()) - slope * float(a.mean())
    return slope / begin if begin > 0 else None
