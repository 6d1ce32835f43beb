"""Forecasts by exponential smoothing, with prediction intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from steelyard.analysis.history.series import Floats

# Smoothing constants among which the best is taken; refined where one series is fitted.
_ALPHAS: Floats = np.linspace(0.02, 1.0, 50)
_TREND_ALPHAS = np.linspace(0.05, 1.0, 12)
_TREND_BETAS = np.linspace(0.0, 0.5, 6)


@dataclass(frozen=True)
class Smoothing:
    """A fit of simple or double exponential smoothing.

    Parameters
    ----------
    alpha : float
        Smoothing constant of the level, 0 to 1.
    beta : float or None
        Smoothing constant of the trend; None for simple smoothing.
    forecasts : array
        Of each value by those before it; the first one or two are the values themselves.
    level : float
        After the last value.
    trend : float
        The same, for each value; 0 for simple smoothing.
    residual_variance : float
        Of the one-step errors around their mean.
    residual_count : int
    """

    alpha: float
    beta: float | None
    forecasts: Floats
    level: float
    trend: float
    residual_variance: float
    residual_count: int

    def forecast(self, ahead: int) -> float:
        """The value so many steps after the last."""
        return self.level + ahead * self.trend

    def variance(self, ahead: int) -> float:
        """Of the error of that forecast.

        Notes
        -----
        Yar and Chatfield, International Journal of Forecasting 6 (1990) 127: the variance of the
        one-step errors times ``1 + sum_{j=1}^{h-1} (alpha (1 + j beta))^2``.
        """
        steps = np.arange(1, ahead, dtype=np.float64)
        trend = 0.0 if self.beta is None else self.beta
        squares = np.square(self.alpha * (1.0 + steps * trend))
        return self.residual_variance * (1.0 + float(squares.sum()))


def simple_smoothing(values: Floats, alpha: float | None = None) -> Smoothing:
    """Simple exponential smoothing: the level begins at the first value.

    Parameters
    ----------
    values : array
        At least 3.
    alpha : float, optional
        By default the one with the least squared one-step errors.

    Notes
    -----
    Larres 2012, section 5.2: ``s_1 = x_0``, ``s_t = s_{t-1} + alpha (x_{t-1} - s_{t-1})``; the
    smoothing constant as R's HoltWinters chooses it.
    """
    chosen = _best_alpha(values) if alpha is None else alpha
    forecasts = np.empty(len(values))
    level = forecasts[0] = float(values[0])
    for at in range(1, len(values)):
        forecasts[at] = level
        level += chosen * (float(values[at]) - level)
    return _fitted(values, forecasts, 1, (chosen, None), (level, 0.0))


def double_smoothing(
    values: Floats, alpha: float | None = None, beta: float | None = None
) -> Smoothing:
    """Double exponential smoothing (Holt's): a level, and a trend that begins as the first
    difference.

    Parameters
    ----------
    values : array
        At least 4.
    alpha, beta : float, optional
        By default those with the least squared one-step errors.
    """
    if alpha is None or beta is None:
        alpha, beta = _best_pair(values)
    forecasts = np.empty(len(values))
    forecasts[:2] = values[:2]
    level, trend = float(values[1]), float(values[1] - values[0])
    for at in range(2, len(values)):
        forecasts[at] = level + trend
        before = level
        level = forecasts[at] + alpha * (float(values[at]) - float(forecasts[at]))
        trend += beta * (level - before - trend)
    return _fitted(values, forecasts, 2, (alpha, beta), (level, trend))


def _fitted(
    values: Floats,
    forecasts: Floats,
    first: int,
    constants: tuple[float, float | None],
    ends: tuple[float, float],
) -> Smoothing:
    errors = values[first:] - forecasts[first:]
    variance = float(errors.var(ddof=1)) if len(errors) > 1 else 0.0
    return Smoothing(*constants, forecasts, *ends, variance, len(errors))


def _best_alpha(values: Floats) -> float:
    """By a grid, then by golden sections around its best."""
    grid: Floats = _ALPHAS
    for _ in range(4):
        squares = _squares_of_alphas(values, grid)
        at = int(np.argmin(squares))
        low, high = float(grid[max(0, at - 1)]), float(grid[min(len(grid) - 1, at + 1)])
        grid = np.linspace(low, high, 21)
    return float(grid[int(np.argmin(_squares_of_alphas(values, grid)))])


def _squares_of_alphas(values: Floats, alphas: Floats) -> Floats:
    levels = np.full(len(alphas), float(values[0]))
    squares = np.zeros(len(alphas))
    for value in values[1:].tolist():
        errors = value - levels
        squares += errors * errors
        levels += alphas * errors
    return squares


def _best_pair(values: Floats) -> tuple[float, float]:
    alphas, betas = _TREND_ALPHAS, _TREND_BETAS
    best = (1.0, 0.0)
    for _ in range(7):
        pairs = np.array(list(product(alphas, betas)))
        best = tuple(pairs[int(np.argmin(_squares_of_pairs(values, pairs)))].tolist())
        reach = (alphas[1] - alphas[0], betas[1] - betas[0])
        alphas = np.linspace(max(0.0, best[0] - reach[0]), min(1.0, best[0] + reach[0]), 9)
        betas = np.linspace(max(0.0, best[1] - reach[1]), min(1.0, best[1] + reach[1]), 9)
    return best[0], best[1]


def _squares_of_pairs(values: Floats, pairs: Floats) -> Floats:
    levels = np.full(len(pairs), float(values[1]))
    trends = np.full(len(pairs), float(values[1] - values[0]))
    squares = np.zeros(len(pairs))
    for value in values[2:].tolist():
        before = levels
        errors = value - levels - trends
        squares += errors * errors
        levels = levels + trends + pairs[:, 0] * errors
        trends = trends + pairs[:, 1] * (levels - before - trends)
    return squares
