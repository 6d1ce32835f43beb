"""Whether samples came at random times: the intervals between them, and their correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Lags beyond some tens say nothing that nearer ones do not; a fixed period shows at the first.
MOST_LAGS = 40
# Fewer intervals bound a correlation too loosely to call it absent.
FEWEST_INTERVALS = 30


@dataclass(frozen=True)
class SamplingHealth:
    """The times between looks at one source: a CPU, or a thread that is watched by itself.

    Parameters
    ----------
    source : str
    interval_count : int
    mean_ns, standard_deviation_ns : float
    autocorrelation : tuple of float
        Of the intervals, from lag 1 on.
    bound : float
        What 95 % of the autocorrelations of independent intervals stay within:
        1.96 / sqrt(count) (Box and Jenkins).
    """

    source: str
    interval_count: int
    mean_ns: float
    standard_deviation_ns: float
    autocorrelation: tuple[float, ...]
    bound: float

    @property
    def variation(self) -> float:
        """Standard deviation by mean: 0 for a fixed period, 0.58 for a uniform one from 0 to
        twice the mean, 1 for a Poisson process."""
        return self.standard_deviation_ns / self.mean_ns if self.mean_ns else 0.0

    @property
    def outside_ratio(self) -> float:
        """The part of the lags whose correlation is outside the bound; 0.05 is expected."""
        outside = sum(abs(value) > self.bound for value in self.autocorrelation)
        return outside / len(self.autocorrelation) if self.autocorrelation else 0.0


def sampling_health(
    times_ns: npt.NDArray[np.uint64], sources: npt.NDArray[np.unsignedinteger], kind: str
) -> tuple[SamplingHealth, ...]:
    """The health of each source with enough samples.

    Parameters
    ----------
    times_ns : array of uint64
        When each CPU or thread was looked at, rising; also of looks that found another program.
    sources : array of int
        Which CPU or thread that was.
    kind : str
        ``"CPU"`` or ``"thread"``.
    """
    found: list[SamplingHealth] = []
    for source in np.unique(sources):
        intervals_ns = np.diff(times_ns[sources == source]).astype(float)
        if len(intervals_ns) >= FEWEST_INTERVALS:
            found.append(_health(f"{kind} {source}", intervals_ns))
    return tuple(found)


def _health(source: str, intervals_ns: npt.NDArray[np.float64]) -> SamplingHealth:
    count = len(intervals_ns)
    lags = min(MOST_LAGS, count // 4)
    centred = intervals_ns - intervals_ns.mean()
    power = float(centred @ centred)
    correlations = (
        tuple(float(centred[lag:] @ centred[:-lag]) / power for lag in range(1, lags + 1))
        if power
        else (1.0,) * lags
    )
    return SamplingHealth(
        source,
        count,
        float(intervals_ns.mean()),
        float(intervals_ns.std()),
        correlations,
        1.96 / count**0.5,
    )
