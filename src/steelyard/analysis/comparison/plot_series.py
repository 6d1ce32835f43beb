"""The points of diagnostic plots: what to draw, without drawing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.comparison.metric_summary import sample_quantile
from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.sorted_values import sorted_values

# G. Blom, Statistical Estimates and Transformed Beta-Variables (1958): plotting positions that
# are nearly unbiased for normal order statistics.
_BLOM_OFFSET = 0.375


@dataclass(frozen=True)
class QuantilePoints:
    """A normal Q-Q plot.

    `theoretical` are standard normal quantiles, `observed` the ordered values beside them; the
    line through both quartiles is ``intercept + slope * theoretical``.
    """

    theoretical: tuple[float, ...]
    observed: tuple[float, ...]
    intercept: float
    slope: float


def stride_for(count: int, limit: int) -> int:
    """The stride that leaves at most `limit` of `count` values, without the chance of a draw."""
    return max(1, -(-count // limit))


def thinned(values: Sequence[float], limit: int) -> tuple[float, ...]:
    """Every k-th value, in order, such that at most `limit` are left."""
    return tuple(values[:: stride_for(len(values), limit)])


def quantile_points(values: Sequence[float], limit: int = 1000) -> QuantilePoints:
    """The points of a normal Q-Q plot.

    Parameters
    ----------
    values : sequence of float
        At least two values, in any order.
    limit : int
        Most points to give; from more values every k-th in order of size is taken.

    Notes
    -----
    Plotting positions are Blom's, ``(i - 3/8) / (n + 1/4)``; the line goes through the first
    and third quartile, so that outliers do not turn it.
    """
    ordered = sorted_values(values)
    count = len(ordered)
    positions = range(0, count, stride_for(count, limit))
    theoretical = tuple(
        normal_quantile((index + 1 - _BLOM_OFFSET) / (count + 1 - 2 * _BLOM_OFFSET))
        for index in positions
    )
    first, third = sample_quantile(ordered, 0.25), sample_quantile(ordered, 0.75)
    spread = normal_quantile(0.75) - normal_quantile(0.25)
    slope = (third - first) / spread
    return QuantilePoints(
        theoretical,
        tuple(ordered[index] for index in positions),
        (first + third) / 2,
        slope,
    )


def lag_pairs(
    values: Sequence[float], lag: int = 1, limit: int = 2000
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Each value and the one `lag` places later, at most `limit` pairs."""
    earlier, later = values[: len(values) - lag], values[lag:]
    return thinned(earlier, limit), thinned(later, limit)
