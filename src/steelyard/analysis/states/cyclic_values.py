"""Values that come back after a fixed count of iterations."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.states.class_redraws import signed_sums
from steelyard.analysis.states.dependence import correlations_of
from steelyard.analysis.tables.data_columns import Floats

# A cycle has to be seen often enough to be one: its period goes so many times into the values.
_PERIODS = 8
# How much of the variance comes back after a period, and how much of that after four: what
# fades faster is a process with a memory, such as a sum of the last values.
_LEAST_CORRELATION = 0.3
_KEPT_CORRELATION = 0.5
_LATER_PERIODS = 4
# With fewer periods, so many at least, nothing can be asked after four more. The phases then have
# to explain half of the variance, beyond what they do by chance. Longer periods show in the
# stretches of `local_levels.py`, which cannot tell few cycles from chance runs either.
_FEW_PERIODS = 4
_LONGEST_OF_FEW = 10
_EXPLAINED = 0.5


def cycle_period(values: Floats, tolerance: float) -> int | None:
    """The period of a cycle that matters, in iterations; None without one.

    Parameters
    ----------
    values : array
        Finite, in the order of their making, without outliers.
    tolerance : float
        A cycle matters if the means of its phases differ by more than this share of the mean.

    Notes
    -----
    A period is a local maximum of the autocorrelation that stands out by 0.3 from what lies
    before it and keeps half its height after four periods. The shortest one is given.

    A period that goes into the values only four to seven times is one if omega squared of its
    phases (Hays, Statistics (1963)) is a half. Of 30 independent normal values that is found in
    less than 1 % of sequences (by the F distribution, over all periods), of more in still fewer.
    """
    count = len(values)
    most = count // _PERIODS
    if most < 2 or not float(np.ptp(values)) > tolerance * abs(float(values.mean())):
        return None
    found = correlations_of(values, _LATER_PERIODS * most)
    lags = np.arange(2, most + 1)
    lowest = np.minimum.accumulate(found)[lags - 1]
    peak = (found[lags] > found[lags - 1]) & (found[lags] >= found[lags + 1])
    high = (found[lags] >= _LEAST_CORRELATION) & (found[lags] - lowest >= _LEAST_CORRELATION)
    lasting = found[_LATER_PERIODS * lags] >= _KEPT_CORRELATION * found[lags]
    for period in lags[peak & high & lasting]:
        if _swing(values, int(period)) > tolerance * abs(float(values.mean())):
            return int(period)
    for few in range(most + 1, min(_LONGEST_OF_FEW, count // _FEW_PERIODS) + 1):
        if _explained(values, few) >= _EXPLAINED and _swing(values, few) > tolerance * abs(
            float(values.mean())
        ):
            return few
    return None


def cycle_confidence(
    values: Floats, period: int, tolerance: float, generator: np.random.Generator
) -> float:
    """The share of redraws of the phases' means, from what differs between cycles, in which they
    differ by more than the tolerance."""
    cycles = _cycles(values, period)
    means = cycles.mean(axis=0)
    redrawn = means + signed_sums((cycles - means) / len(cycles), generator)
    swings = np.ptp(redrawn, axis=1)
    return float((swings > tolerance * abs(float(values.mean()))).mean())


def _cycles(values: Floats, period: int) -> Floats:
    """A row for each whole cycle."""
    return values[: len(values) // period * period].reshape(-1, period)


def _explained(values: Floats, period: int) -> float:
    """Omega squared: the share of the variance that lies between phases, without bias."""
    cycles = _cycles(values, period)
    deviations = cycles - cycles.mean()
    total = float(np.square(deviations).sum())
    between = len(cycles) * float(np.square(deviations.mean(axis=0)).sum())
    within = (total - between) / (cycles.size - period)
    return (between - (period - 1) * within) / (total + within) if total > 0 else 0.0


def _swing(values: Floats, period: int) -> float:
    """Largest minus smallest mean of the phases."""
    return float(np.ptp(_cycles(values, period).mean(axis=0)))
