"""How narrow an interval becomes with so many repetitions of the top level, and what that takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import two_sided

# Kalibera and Jones, ISMM 2013, section 11: the columns of tables 6 and 7, and the fewest and
# most repetitions of the top level that they show.
HALF_WIDTH_RATIOS = (0.005, 0.01, 0.015, 0.025, 0.05)
FEWEST_REPETITIONS = 5
MOST_REPETITIONS = 1000
# Equation 6: the ratio of two systems that vary alike.
RATIO_WIDENING = sqrt(2.0)


@dataclass(frozen=True)
class Precision:
    """What it takes until an interval is as narrow as wanted.

    `count` is the number of repetitions of the top level, None for more than 1,000; `time_s` is
    None where costs are not known or the count is None. For the ratio of two systems that vary
    alike, the count is that of each and the time that of both.
    """

    half_width_ratio: float
    count: int | None
    time_s: float | None
    ratio_count: int | None
    ratio_time_s: float | None


@dataclass(frozen=True)
class Purchase:
    """The half-width that a time buys, relative to the mean or the ratio.

    It is None for fewer than 2 repetitions of the top level. Two systems share the time.
    """

    budget_s: float
    count: int
    half_width_ratio: float | None
    ratio_count: int
    ratio_half_width_ratio: float | None


@dataclass(frozen=True)
class Prediction:
    """Predicts intervals from the deviation of the top level's means, relative to the mean."""

    deviation_ratio: float
    confidence: float
    unit_time_s: float | None

    def half_width_ratio(self, count: int) -> float:
        """With `count` repetitions of the top level, 2 or more (equation 4)."""
        quantile = student_quantile(two_sided(self.confidence), count - 1)
        return quantile * self.deviation_ratio / sqrt(count)

    def fewest(self, half_width_ratio: float) -> int | None:
        """The fewest repetitions, from 5 to 1,000, that make it as narrow; else None."""
        if self.half_width_ratio(MOST_REPETITIONS) > half_width_ratio:
            return None
        low, high = FEWEST_REPETITIONS - 1, MOST_REPETITIONS
        while high - low > 1:
            middle = (low + high) // 2
            if self.half_width_ratio(middle) > half_width_ratio:
                low = middle
            else:
                high = middle
        return high

    def precision(self, half_width_ratio: float) -> Precision:
        """A row of the table."""
        count = self.fewest(half_width_ratio)
        ratio_count = self.fewest(half_width_ratio / RATIO_WIDENING)
        return Precision(
            half_width_ratio, count, self._time_s(count), ratio_count, self._time_s(ratio_count, 2)
        )

    def _time_s(self, count: int | None, systems: int = 1) -> float | None:
        if count is None or self.unit_time_s is None:
            return None
        return systems * count * self.unit_time_s

    def purchase(self, budget_s: float) -> Purchase | None:
        """What a time buys; None where times are not known."""
        if not self.unit_time_s:
            return None
        # A budget that is a whole number of units but for rounding errors buys all of them.
        count = int(budget_s / self.unit_time_s * (1 + 1e-12))
        ratio_count = int(budget_s / (2 * self.unit_time_s) * (1 + 1e-12))
        own = self.half_width_ratio(count) if count > 1 else None
        both = RATIO_WIDENING * self.half_width_ratio(ratio_count) if ratio_count > 1 else None
        return Purchase(budget_s, count, own, ratio_count, both)
