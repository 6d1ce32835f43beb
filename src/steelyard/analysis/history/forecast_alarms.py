"""Values outside the prediction interval of those before them, once for each change."""

from __future__ import annotations

from math import sqrt

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.history.detector import Detection
from steelyard.analysis.history.exponential_smoothing import Smoothing, begin_double, begin_simple
from steelyard.analysis.history.noise_scale import resolution
from steelyard.analysis.history.series import Floats
from steelyard.analysis.history.spikes import LONGEST_SPIKE

# A spread of fewer errors is hardly known.
FEWEST_ERRORS = 8


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
    Larres 2012, section 5.2: the newest value is judged by all before it. Up to four values outside
    that are back afterwards were a spike, which forecasts leave out (Figure 5.1). Five values
    outside on one side, or all to the end of the track, are a step, from which forecasts begin
    anew, so that it is reported once. Each further value is judged as many steps ahead.
    """
    if len(values) < FEWEST_ERRORS + 2:
        return ()
    floor = resolution(values)
    at = 2 if trend else 1
    state = begin_double(values[:2]) if trend else begin_simple(values[:1])
    found: list[Detection] = []
    p_value = min(1.0, rate * len(values))
    while at < len(values):
        outside = _outside(state, values, at, rate, floor)
        if outside == 0:
            state = state.after(float(values[at]))
            at += 1
            continue
        if outside > LONGEST_SPIKE or at + outside >= len(values):
            found.append(Detection("step", at, at, p_value))
            follows = trend and outside > LONGEST_SPIKE
            state = state.begun_anew(values[at : at + outside], trend=follows)
        else:
            found.append(Detection("spike", at, at + outside - 1, p_value))
        at += outside
    return tuple(found)


def _outside(state: Smoothing, values: Floats, at: int, rate: float, floor: float) -> int:
    """How many values from `at` on are outside of what was forecast, on the side of the first."""
    if state.count < FEWEST_ERRORS:
        return 0
    quantile = t_quantile(1.0 - rate / 2.0, state.count - 1.0)
    side = 1.0 if values[at] > state.forecast() else -1.0
    for count in range(LONGEST_SPIKE + 1):
        if at + count == len(values):
            return count
        reach = max(floor, quantile * sqrt(state.variance(count + 1)))
        if side * (float(values[at + count]) - state.forecast(count + 1)) <= reach:
            return count
    return LONGEST_SPIKE + 1
