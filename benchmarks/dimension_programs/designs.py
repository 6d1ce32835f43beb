"""Designs of executions and iterations: what they take, and how narrow an interval they give."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from scipy import stats

from benchmarks.dimension_programs.programs import Default

FIXED_COUNT = 30  # Kalibera and Jones, ISMM 2013, section 9.1
PRECISION_RATIO = 0.01
FEWEST_EXECUTIONS, MOST_EXECUTIONS = 5, 1000  # section 9.3
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Design:
    """Executions of so many iterations each, as they ran.

    Parameters
    ----------
    iteration_count : int
    means_s : sequence of float
        The mean iteration of each execution.
    costs_s : sequence of float
        What each execution took, from its start to its end.
    """

    iteration_count: int
    means_s: Sequence[float]
    costs_s: Sequence[float]

    @property
    def time_s(self) -> float:
        """What all of it took."""
        return sum(self.costs_s)

    @property
    def half_width_ratio(self) -> float:
        """Half-width of the mean's interval, as a share of the mean (Kalibera and Jones, eq. 5)."""
        count = len(self.means_s)
        quantile = float(stats.t.ppf(0.5 + _CONFIDENCE / 2, count - 1))
        deviation = statistics.stdev(self.means_s) / math.sqrt(count)
        return quantile * deviation / statistics.fmean(self.means_s)

    @property
    def one_percent_s(self) -> float:
        """What so many of these executions take that the half-width is 1 % of the mean."""
        variation = statistics.stdev(self.means_s) / statistics.fmean(self.means_s)
        count = executions_needed(variation)
        return math.nan if count is None else count * statistics.fmean(self.costs_s)

    @property
    def time_to_precision(self) -> float:
        """What time to a given half-width is proportional to, in seconds."""
        variation = statistics.stdev(self.means_s) / statistics.fmean(self.means_s)
        return variation**2 * statistics.fmean(self.costs_s)


@dataclass(frozen=True)
class Found:
    """What came of one program. Times in seconds, half-widths as a share of the mean."""

    name: str
    iteration_s: float
    start_s: float
    variations: tuple[float, float]
    iteration_count: int
    one_percent_s: float | None
    saving: float
    fixed_s: float
    fixed_ratio: float
    default: Default
    default_s: float
    default_ratio: float | None
    fixed: Design | None = None
    chosen: Design | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def fixed_over_one_percent(self) -> float:
        """The time of 30 x 30 over that to 1 %; 0 where 1 % is out of reach."""
        return 0.0 if self.one_percent_s is None else self.fixed_s / self.one_percent_s

    @property
    def realised_over_one_percent(self) -> float:
        """The same as both ran; 0 where 1 % is out of reach."""
        if self.fixed is None or self.chosen is None:
            return math.nan
        one_percent_s = self.chosen.one_percent_s
        return 0.0 if math.isnan(one_percent_s) else self.fixed.time_s / one_percent_s

    @property
    def realised_saving(self) -> float:
        """The time to one half-width with 30 iterations over that with the chosen count."""
        if self.fixed is None or self.chosen is None:
            return math.nan
        return self.fixed.time_to_precision / self.chosen.time_to_precision


def executions_needed(variation: float) -> int | None:
    """The fewest executions whose mean has a half-width of 1 %; None where 1,000 are too few."""
    for count in range(FEWEST_EXECUTIONS, MOST_EXECUTIONS + 1):
        quantile = float(stats.t.ppf(0.5 + _CONFIDENCE / 2, count - 1))
        if quantile * variation / math.sqrt(count) <= PRECISION_RATIO:
            return count
    return None


def predicted_ratio(relative: Sequence[float], executions: int, values: float) -> float | None:
    """Half-width of the mean as a share of it; None with one execution.

    Kalibera and Jones, equations 1 and 5: the variance of the mean of an execution, from the
    variances between executions and between `values` independent values in each.
    """
    if executions < 2:
        return None
    deviation = math.sqrt((relative[0] + relative[1] / values) / executions)
    return float(stats.t.ppf(0.5 + _CONFIDENCE / 2, executions - 1)) * deviation


def time_to_precision(
    relative: Sequence[float], start_s: float, iteration_s: float, iterations: int
) -> float:
    """What time to a given half-width is proportional to: the variance of the mean of an
    execution, times what an execution takes (Kalibera and Jones, section 9.3)."""
    return (relative[0] + relative[1] / iterations) * (start_s + iterations * iteration_s)


def default_time(
    default: Default, start_s: float, iteration_s: float, warmup_count: int | None
) -> float:
    """What the harness's own design takes, without what is dropped here as warm-up."""
    value_s = default.value_s or iteration_s
    bare_s = max(0.0, start_s - (warmup_count or 0) * iteration_s)
    warmup_s = start_s - bare_s if default.warmup_s is None else default.warmup_s
    return default.execution_count * (bare_s + warmup_s + default.value_count * value_s)


def default_half_width(
    default: Default, relative: Sequence[float], iteration_s: float
) -> float | None:
    """The half-width of the harness's own design, if its values were independent."""
    inside = max(1.0, (default.value_s or iteration_s) / iteration_s)
    return predicted_ratio(relative, default.execution_count, default.value_count * inside)
