"""Forecasts by simple and double exponential smoothing, with the variance of their errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from steelyard.analysis.history.series import Floats

# Smoothing constants of level and trend, of which the best one forecasts.
SIMPLE: Floats = np.column_stack([np.linspace(0.02, 1.0, 50), np.zeros(50)])
DOUBLE: Floats = np.array(
    [(a, b) for a in np.linspace(0.1, 1.0, 10) for b in (0.0, 0.05, 0.1, 0.2, 0.4)]
)


@dataclass(frozen=True)
class Smoothing:
    """Exponential smoothing at several smoothing constants at once.

    Parameters
    ----------
    constants : array, shape (k, 2)
        Smoothing constants of level and trend, each 0 to 1; without a trend the second is 0.
    levels, trends : array, shape (k,)
        After the values so far.
    squares, sums : array, shape (k,)
        Of the one-step errors.
    count : int
        One-step errors so far.

    Notes
    -----
    Larres 2012, section 5.2: ``s_1 = x_0``, ``s_t = s_{t-1} + alpha (x_{t-1} - s_{t-1})``, the
    constant with the least squared one-step errors; with a trend Holt's recursion. As R's
    HoltWinters has both.
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

    def forecast(self, ahead: int = 1) -> float:
        """The value so many steps after the last."""
        at = self.best
        return float(self.levels[at] + ahead * self.trends[at])

    def variance(self, ahead: int = 1) -> float:
        """Of the error of that forecast; at least two one-step errors must be known.

        Notes
        -----
        Yar and Chatfield, International Journal of Forecasting 6 (1990) 127: the variance of the
        one-step errors around their mean, times ``1 + sum_{j=1}^{h-1} (alpha (1 + j beta))^2``.
        """
        at = self.best
        alpha, beta = self.constants[at].tolist()
        around = float(self.squares[at]) - float(self.sums[at]) ** 2 / self.count
        steps = np.arange(1, ahead, dtype=np.float64)
        farther = 1.0 + float(np.square(alpha * (1.0 + steps * beta)).sum())
        return max(0.0, around) / (self.count - 1) * farther

    def after(self, value: float) -> Smoothing:
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

    def begun_anew(self, values: Floats, *, trend: bool) -> Smoothing:
        """At the level of other values, and with their trend, with the errors that it knows."""
        count, size = len(values), len(self.levels)
        order = np.arange(count) - (count - 1) / 2
        slope = float(order @ values) / float(order @ order) if trend and count > 1 else 0.0
        level = float(values.mean()) + slope * (count - 1) / 2
        return replace(self, levels=np.full(size, level), trends=np.full(size, slope))


def begin_simple(values: Floats, constants: Floats = SIMPLE) -> Smoothing:
    """Simple smoothing after the first of at least one value, which is its level."""
    return _begun(constants, float(values[0]), 0.0)


def begin_double(values: Floats, constants: Floats = DOUBLE) -> Smoothing:
    """Double smoothing after the first two values: the level is the second, the trend what lies
    between them."""
    return _begun(constants, float(values[1]), float(values[1] - values[0]))


def _begun(constants: Floats, level: float, trend: float) -> Smoothing:
    size = len(constants)
    zeros = np.zeros(size)
    return Smoothing(constants, np.full(size, level), np.full(size, trend), zeros, zeros)
