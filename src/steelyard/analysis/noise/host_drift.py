"""Whether a host is as fast as it was, by what it takes for a reference benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# The host as it was: its first readings after it was enrolled or released.
BASELINE_READINGS = 5
# The host as it is: one reading may be disturbed, two of three are not by chance.
RECENT_READINGS = 3
# A change below it is within what a reading of a second may vary by from hour to hour.
LEAST_CHANGE = 0.10
# From the median absolute deviation of normal values to their standard deviation.
_NORMAL_SCALE = 1.4826
_DEVIATIONS = 5.0


@dataclass(frozen=True)
class HostDrift:
    """How a host is, beside how it was.

    Parameters
    ----------
    ratio : float
        The recent readings' median over the baseline's: above 1 is slower.
    limit : float
        The change beyond which a host is set aside.
    """

    ratio: float
    limit: float

    @property
    def has_drifted(self) -> bool:
        """Whether it is beyond its limit, either way."""
        return max(self.ratio, 1 / self.ratio) > 1 + self.limit


def host_drift(readings: Sequence[float]) -> HostDrift | None:
    """The drift of a host by its readings of one benchmark, the oldest first; None where there are
    too few.

    Parameters
    ----------
    readings : sequence of float
        Times, above 0.

    Notes
    -----
    Medians of `BASELINE_READINGS` and `RECENT_READINGS`: a reading that was disturbed moves neither
    far. The limit grows with the spread of the baseline, so that a host whose readings vary anyway
    is not set aside for it.
    """
    if len(readings) < BASELINE_READINGS + RECENT_READINGS:
        return None
    first = readings[:BASELINE_READINGS]
    usual = median(first)
    spread = _NORMAL_SCALE * median(abs(value - usual) for value in first) / usual
    recent = median(readings[-RECENT_READINGS:])
    return HostDrift(recent / usual, max(LEAST_CHANGE, _DEVIATIONS * spread))
