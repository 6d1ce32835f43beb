"""How often to repeat each level below the top one, from variances and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt

# A count that is whole but for rounding errors is not rounded up to the next.
_ROUNDING_SLACK = 1e-12


@dataclass(frozen=True)
class _Tier:
    """Levels that are repeated together: the highest of them, with one of each below it."""

    variance: float
    cost_s: float
    level_count: int

    @property
    def density(self) -> float:
        """Variance that a second spent on repetition works on."""
        if self.cost_s > 0:
            return self.variance / self.cost_s
        return inf if self.variance > 0 else 0.0

    def joined(self, below: _Tier) -> _Tier:
        """Both as one."""
        return _Tier(
            self.variance + below.variance,
            self.cost_s + below.cost_s,
            self.level_count + below.level_count,
        )


def optimal_counts(variances: Sequence[float], costs_s: Sequence[float]) -> tuple[float, ...]:
    """The counts that give the narrowest interval for the time, before they are rounded up.

    Parameters
    ----------
    variances : sequence of float
        T_i^2 of each level, highest first; those below 0 count as 0.
    costs_s : sequence of float
        Time that one more repetition of each level adds by itself, 0 or above.

    Returns
    -------
    tuple of float
        Repetitions of each level but the highest one in a unit of the level above: 1 for a
        dropped level, infinite where nothing varies above the level.

    Notes
    -----
    With m_i units of level i in each unit of the top level the mean's variance is proportional
    to ``sum T_i^2 / m_i`` and the time to ``sum c_i m_i``. The product is least at
    ``m_i / m_n = sqrt(c_n / c_i * T_i^2 / T_n^2)`` (Cauchy and Schwarz), so that
    ``r_i = m_i / m_(i+1)`` is equation 3 of Kalibera and Jones, ISMM 2013. A unit has at least
    one repetition, so m_i must not fall on the way down; where the formula has it fall, the
    optimum ties m_i to m_(i+1), which makes one level of the two with the sums of their
    variances and costs (pooling of adjacent violators; Barlow et al., Statistical Inference
    under Order Restrictions, 1972, section 1.2).
    """
    tiers: list[_Tier] = []
    for variance, cost_s in zip(variances, costs_s, strict=True):
        tier = _Tier(max(0.0, variance), cost_s, 1)
        while tiers and tier.density <= tiers[-1].density:
            tier = tiers.pop().joined(tier)
        tiers.append(tier)
    counts: list[float] = []
    above = tiers[0].density
    for tier in tiers:
        counts.append(sqrt(tier.density / above) if above > 0 else inf)
        counts += [1.0] * (tier.level_count - 1)
        above = tier.density
    return tuple(counts[1:])


def rounded_up(count: float) -> int:
    """The next whole number, as equation 3 has it; at least 1."""
    return max(1, ceil(count * (1.0 - _ROUNDING_SLACK)))


def unit_time_s(costs_s: Sequence[float], counts: Sequence[int]) -> float:
    """Time of one repetition of the highest level with everything in it.

    Parameters
    ----------
    costs_s : sequence of float
        Of each level, highest first.
    counts : sequence of int
        Of each level but the highest.
    """
    time_s = 0.0
    for cost_s, count in zip(reversed(costs_s), (*reversed(counts), 1), strict=True):
        time_s = count * (cost_s + time_s)
    return time_s


def top_variance(variances: Sequence[float], counts: Sequence[int]) -> float:
    """The variance of the means of the highest level that counts leave: the expected S_n^2.

    ``T_n^2 + T_(n-1)^2 / r_(n-1) + T_(n-2)^2 / (r_(n-1) r_(n-2)) + ...``, components below 0
    taken as 0.
    """
    total, units = 0.0, 1
    for variance, count in zip(variances, (1, *counts), strict=True):
        units *= count
        total += max(0.0, variance) / units
    return total
