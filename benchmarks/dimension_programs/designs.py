"""Designs of executions and iterations: what they take, and how narrow an interval they give."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from scipy import stats

from benchmarks.dimension_programs.dimensioned_programs import Default

FIXED_COUNT = 30  # Kalibera and Jones, ISMM 2013, section 9.1
PRECISION_RATIO = 0.01
FEWEST_EXECUTIONS = 5  # section 9.3
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
    def variation(self) -> float:
        """By how much the executions vary, as a share of their mean."""
        return statistics.stdev(self.means_s) / statistics.fmean(self.means_s)

    @property
    def half_width_ratio(self) -> float:
        """Half-width of the mean's interval, as a share of the mean."""
        return _half_width_ratio(self.variation, len(self.means_s))

    def one_percent_s(self, fewest: int = FEWEST_EXECUTIONS) -> float:
        """What so many of these executions take that the half-width is 1 % of the mean."""
        return executions_needed(self.variation, fewest) * statistics.fmean(self.costs_s)


@dataclass(frozen=True)
class Found:
    """What came of one program. Times in seconds, half-widths as a share of the mean.

    `relative`: the variances of executions and of iterations, over the square of the mean.
    """

    name: str
    iteration_s: float
    start_s: float
    relative: tuple[float, float]
    iteration_count: int
    fixed_ratio: float
    default: Default
    default_s: float
    default_ratio: float | None
    fixed: Design | None = None
    chosen: Design | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def fixed_s(self) -> float:
        """The time of one 30 x 30."""
        return FIXED_COUNT * self._execution_s(FIXED_COUNT)

    @property
    def one_percent_s(self) -> float:
        """The time to 1 % with the chosen iterations in each execution."""
        return self._one_percent_s(self.iteration_count, FEWEST_EXECUTIONS)

    @property
    def fixed_one_percent_s(self) -> float:
        """The time to 1 % with 30 iterations in each execution, and never less than 30 x 30."""
        return self._one_percent_s(FIXED_COUNT, FIXED_COUNT)

    @property
    def ended_ratio(self) -> float:
        """`saving` if fixed executions ended at 1 % too, with as few as the chosen ones may be."""
        return self._one_percent_s(FIXED_COUNT, FEWEST_EXECUTIONS) / self.one_percent_s

    @property
    def saving(self) -> float:
        """The time to 1 % of 30 x 30 over that of the chosen design."""
        return self.fixed_one_percent_s / self.one_percent_s

    @property
    def realised_saving(self) -> float:
        """The same as both ran."""
        if self.fixed is None or self.chosen is None:
            return math.nan
        return self.fixed.one_percent_s(FIXED_COUNT) / self.chosen.one_percent_s()

    @property
    def single(self) -> float:
        """The time of one 30 x 30, however wide its interval, over that to 1 % as chosen."""
        return self.fixed_s / self.one_percent_s

    @property
    def realised_single(self) -> float:
        """The same as both ran."""
        if self.fixed is None or self.chosen is None:
            return math.nan
        return self.fixed.time_s / self.chosen.one_percent_s()

    def _execution_s(self, iterations: int) -> float:
        return self.start_s + iterations * self.iteration_s

    def _one_percent_s(self, iterations: int, fewest: int) -> float:
        variation = math.sqrt(self.relative[0] + self.relative[1] / iterations)
        return executions_needed(variation, fewest) * self._execution_s(iterations)


def executions_needed(variation: float, fewest: int) -> int:
    """The fewest executions, of those that are allowed, whose mean has a half-width of 1 %."""
    return next(
        count
        for count in itertools.count(fewest)
        if _half_width_ratio(variation, count) <= PRECISION_RATIO
    )


def _half_width_ratio(variation: float, count: int) -> float:
    """Of the mean of `count` executions that vary by so much (Kalibera and Jones, eq. 5)."""
    quantile = float(stats.t.ppf(0.5 + _CONFIDENCE / 2, count - 1))
    return quantile * variation / math.sqrt(count)


def predicted_ratio(relative: Sequence[float], executions: int, values: float) -> float | None:
    """Half-width of the mean as a share of it; None with one execution.

    Kalibera and Jones, equations 1 and 5: the variance of the mean of an execution, from the
    variances between executions and between `values` independent values in each.
    """
    if executions < 2:
        return None
    return _half_width_ratio(math.sqrt(relative[0] + relative[1] / values), executions)


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
