"""Whether iterations look independent of each other: by their ranks, so that any spread may do."""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from steelyard.analysis.tables.data_columns import Floats
from steelyard.analysis.tests.independence import chi_squared_tail

# As in analysis/tests/independence.py: 10 lags for values that are not seasonal.
_TESTED_LAGS = 10
# Fewer values than this show only dependence that is plain to see.
FEWEST_TESTED = 30


@dataclass(frozen=True)
class Dependence:
    """Tests of a sequence of values.

    Parameters
    ----------
    count : int
        Of the values.
    lag_1 : float
        Autocorrelation of the ranks at lag 1.
    serial_p, trend_p, cycle_p : float
        Of no autocorrelation, no trend and no cycle.
    """

    count: int
    lag_1: float
    serial_p: float
    trend_p: float
    cycle_p: float

    def found(self, confidence: float) -> bool:
        """Whether dependence was found. Of independent values it is in at most ``1 - confidence``
        of all sequences (Bonferroni, over the three tests)."""
        return min(self.serial_p, self.trend_p, self.cycle_p) < (1 - confidence) / 3


def dependence(values: Floats) -> Dependence:
    """Test `values`, at least `FEWEST_TESTED`, in the order of their making.

    Notes
    -----
    All tests are of the ranks, so that their size does not depend on the distribution: Ljung and
    Box's over 10 lags (Biometrika 65 (1978) 297; for ranks Dufour and Roy, 1986), Spearman's
    correlation with the order, and Fisher's g of the largest ordinate of the periodogram (Proc.
    Royal Society A 125 (1929) 54, by its first term, which bounds p from above).
    """
    count = len(values)
    ranks = centred_ranks(values)
    total = float(ranks @ ranks)
    if total <= 0:
        return Dependence(count, 0.0, 1.0, 1.0, 1.0)
    lags = range(1, min(_TESTED_LAGS, count // 5) + 1)
    correlations = [float(ranks[lag:] @ ranks[:-lag]) / total for lag in lags]
    statistic = sum(r * r / (count - lag) for lag, r in zip(lags, correlations, strict=True))
    order = np.arange(count) - (count - 1) / 2
    trend = float(ranks @ order) / sqrt(total * float(order @ order))
    return Dependence(
        count=count,
        lag_1=correlations[0],
        serial_p=chi_squared_tail(count * (count + 2) * statistic, len(lags)),
        trend_p=erfc(abs(trend) * sqrt(count - 1) / sqrt(2.0)),
        cycle_p=_fisher_p(ranks),
    )


def centred_ranks(values: Floats) -> Floats:
    """Ranks around 0, the mean one for values that are alike."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle = ends - (counts - 1) / 2
    return (middle[place.reshape(-1)] - (len(values) + 1) / 2).astype(np.float64)


def _fisher_p(ranks: Floats) -> float:
    power = np.square(np.abs(np.fft.rfft(ranks)))[1 : (len(ranks) + 1) // 2]
    share = float(power.max() / power.sum())
    return min(1.0, len(power) * (1 - share) ** (len(power) - 1))


def correlations_of(values: Floats, most_lags: int) -> Floats:
    """The autocorrelation of lags 0 ... `most_lags`; the values must not all be alike.

    By the Fourier transform, which gives the sums over all lags at once.
    """
    deviations = values - values.mean()
    size = 1 << (2 * len(values) - 1).bit_length()
    transformed = np.fft.rfft(deviations, size)
    sums = np.fft.irfft(transformed * np.conj(transformed), size)[: most_lags + 1]
    return sums / sums[0]
