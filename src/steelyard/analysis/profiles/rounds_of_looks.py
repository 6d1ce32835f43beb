"""What looks are worth that keep to one period for a round, and so depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from steelyard.analysis.distributions.student import student_quantile

# Windows of time hold whole rounds but for their ends.
_ROUNDS_A_WINDOW = 4
# Neighbours share a round that the border between them cuts at random. Of W independent rounds a
# window half the squared difference of neighbours has the mean W - 1/2, and not W.
_OF_BORDERS = _ROUNDS_A_WINDOW / (_ROUNDS_A_WINDOW - 0.5)
_FEWEST_WINDOWS = 4


@dataclass(frozen=True)
class Rounds:
    """Samples in windows of some rounds each.

    Parameters
    ----------
    windows : array of int
        The number of each sample's window, from 0 on; those of one CPU follow each other in time.
    cpus : array of int
        The CPU of each window.
    confidence : float
    """

    windows: npt.NDArray[np.int64]
    cpus: npt.NDArray[np.int64]
    confidence: float

    @classmethod
    def of(
        cls,
        times_ns: npt.NDArray[np.uint64],
        cpus: npt.NDArray[np.uint16],
        round_ns: float,
        confidence: float,
    ) -> Rounds:
        """Samples by their times and CPUs, where a round lasts for `round_ns` on the mean."""
        numbers = (times_ns // np.uint64(_ROUNDS_A_WINDOW * round_ns)).astype(np.int64)
        keys = np.stack((cpus.astype(np.int64), numbers))
        found, windows = np.unique(keys, axis=1, return_inverse=True)
        return cls(windows.reshape(-1), found[0], confidence)

    def worth(self, at: npt.NDArray[np.int64]) -> float:
        """How many independent looks all samples are worth for the share of those at `at`.

        The share is a ratio of two sums over windows. Its variance, by the differences of
        neighbouring windows (K. M. Wolter, Introduction to Variance Estimation, 2007, section 8.2,
        v2), has nothing of what the program does for longer than a window; so many independent
        looks have as much. For few windows Student's quantile stands in for the normal one.
        """
        total, count = len(self.windows), len(self.cpus)
        share = len(at) / total
        neighbours = self.cpus[1:] == self.cpus[:-1]
        pairs = int(neighbours.sum())
        if pairs < _FEWEST_WINDOWS:
            return 1.0
        sizes = np.bincount(self.windows, minlength=count).astype(float)
        errors = np.bincount(self.windows[at], minlength=count) - share * sizes
        steps = np.diff(errors)[neighbours]
        variance = _OF_BORDERS * count / (2 * pairs) * float(steps @ steps) / total**2
        if not variance:
            return float(total)
        upper = (1 + self.confidence) / 2
        # Differences that overlap have about two thirds of the degrees of freedom of their number.
        degrees = max(1.0, 2 * pairs / 3)
        wider = (student_quantile(upper, degrees) / NormalDist().inv_cdf(upper)) ** 2
        return min(float(total), max(1.0, share * (1 - share) / variance / wider))
