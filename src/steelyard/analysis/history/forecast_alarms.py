"""Values outside the prediction interval of those before them, once for each change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.history.detector import Detection
from steelyard.analysis.history.noise_scale import resolution
from steelyard.analysis.history.series import Floats
from steelyard.analysis.history.spikes import LONGEST_SPIKE

# A spread of fewer errors is hardly known.
FEWEST_ERRORS = 8
_ALPHAS = np.linspace(0.05, 1.0, 20)
_PAIRS = np.array([(a, b) for a in np.linspace(0.1, 1.0, 10) for b in (0.0, 0.05, 0.1, 0.2, 0.4)])


@dataclass(frozen=True)
class Forecaster:
    """Exponential smoothing at many smoothing constants at once, of which the best one forecasts.

    Parameters
    ----------
    constants : array, shape (k, 2)
        Smoothing constants of level and trend.
    levels, trends, squares : array, shape (k,)
        Of the values so far.
    sums : array, shape (k,)
        Of the one-step errors.
    count : int
        One-step errors so far.
    """

    constants: Floats
    levels: Floats
    trends: Floats
    squares: Floats = field(default_factory=lambda: np.zeros(0))
    sums: Floats = field(default_factory=lambda: np.zeros(0))
    count: int = 0

    @property
    def best(self) -> int:
        """Which constants have the least squared one-step errors."""
        return int(np.argmin(self.squares))

    @property
    def forecast(self) -> float:
        """Of the next value."""
        return float(self.levels[self.best] + self.trends[self.best])

    @property
    def deviation(self) -> float:
        """Of the one-step errors around their mean."""
        at = self.best
        around = float(self.squares[at]) - float(self.sums[at]) ** 2 / self.count
        return sqrt(max(0.0, around) / (self.count - 1))

    def after(self, value: float) -> Forecaster:
        """What it is when it has seen one value more."""
        errors = value - self.levels - self.trends
        levels = self.levels + self.trends + self.constants[:, 0] * errors
        trends = self.trends + self.constants[:, 1] * (levels - self.levels - self.trends)
        return replace(
            self,
            levels=levels,
            trends=trends,
            squares=self.squares + errors * errors,
            sums=self.sums + errors,
            count=self.count + 1,
        )

    def begun_anew(self, values: Floats) -> Forecaster:
        """At the level of other values, and with their trend, with the errors that it knows."""
        count = len(values)
        order = np.arange(count) - (count - 1) / 2
        follows = self.constants[:, 1].any() and count > LONGEST_SPIKE
        slope = float(order @ values) / float(order @ order) if follows else 0.0
        level = float(values.mean()) + slope * (count - 1) / 2
        size = len(self.levels)
        return replace(self, levels=np.full(size, level), trends=np.full(size, slope))


def forecaster_of(first: float, *, trend: bool) -> Forecaster:
    """Simple smoothing, or double smoothing with a trend that begins at 0, from a first value."""
    constants = _PAIRS if trend else np.column_stack([_ALPHAS, np.zeros(len(_ALPHAS))])
    zeros = np.zeros(len(constants))
    return Forecaster(constants, np.full(len(constants), first), zeros, zeros, zeros)


def forecast_alarms(values: Floats, rate: float, *, trend: bool) -> tuple[Detection, ...]:
    """The changes that show in values outside their prediction interval.

    Parameters
    ----------
    values : array
    rate : float
        How often a value of normal errors is outside.
    trend : bool
        Whether forecasts follow a trend.

    Notes
    -----
    Larres 2012, section 5.2: the newest value is judged by all before it. What is outside for up to
    four values and then back was a spike, which forecasts forget (Figure 5.1); what stays outside
    for five values on one side, or to the end of the track, is a step, from which they begin anew,
    so that it is told once.
    """
    if len(values) < FEWEST_ERRORS + 2:
        return ()
    floor = resolution(values)
    state = forecaster_of(float(values[0]), trend=trend)
    found: list[Detection] = []
    at = 1
    while at < len(values):
        outside = _outside(state, values, at, rate, floor)
        if outside == 0:
            state = state.after(float(values[at]))
            at += 1
            continue
        p_value = min(1.0, rate * len(values))
        if outside > LONGEST_SPIKE or at + outside >= len(values):
            found.append(Detection("step", at, at, p_value))
            state = state.begun_anew(values[at : at + outside])
        else:
            found.append(Detection("spike", at, at + outside - 1, p_value))
        at += outside
    return tuple(found)


def _outside(state: Forecaster, values: Floats, at: int, rate: float, floor: float) -> int:
    """How many values from `at` on are outside of what was forecast, on the side of the first."""
    if state.count < FEWEST_ERRORS:
        return 0
    forecast = state.forecast
    reach = max(floor, t_quantile(1.0 - rate / 2.0, state.count - 1.0) * state.deviation)
    side = 1.0 if values[at] > forecast else -1.0
    for count in range(LONGEST_SPIKE + 1):
        if at + count == len(values) or side * (values[at + count] - forecast) <= reach:
            return count
    return LONGEST_SPIKE + 1
