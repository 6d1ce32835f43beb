"""How far the two ends of a search lie apart, in logarithms of the ratio within blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt

from steelyard.analysis.bisection.evidence import Level, error_of_run, evidence_of_value
from steelyard.core.errors import AnalysisError


@dataclass(frozen=True)
class Ends:
    """The end with the change against the one without.

    Parameters
    ----------
    difference : float
        Mean logarithm of the ratio of a block; its sign says in which direction the change is.
    standard_error : float
        Of it.
    deviation : float
        Standard deviation of one block's logarithm.
    """

    difference: float
    standard_error: float
    deviation: float

    @property
    def error_ratio(self) -> float:
        """How often one block says the wrong thing."""
        return error_of_run(self.difference, self.deviation)

    def evidence(self, logarithms: Sequence[float]) -> float:
        """What blocks of a revision against the end without the change say for its having it."""
        mean = fsum(logarithms) / len(logarithms)
        error = self.deviation / sqrt(len(logarithms))
        slow = Level(self.difference, self.standard_error)
        return evidence_of_value(mean, error, Level(0.0, 0.0), slow)


def block_logarithms(
    baseline: Mapping[int, float], candidate: Mapping[int, float]
) -> tuple[float, ...]:
    """Logarithms of candidate / baseline of the blocks in which both have a value.

    Raises
    ------
    AnalysisError
        A value is not above 0, or they have no block in common.
    """
    common = sorted(baseline.keys() & candidate.keys())
    if not common:
        raise AnalysisError("The two revisions have no block in which both have a value.")
    if min(*(baseline[b] for b in common), *(candidate[b] for b in common)) <= 0.0:
        raise AnalysisError(
            "A search compares by ratios, and the metric has values of 0 or below.",
            field="--metric",
        )
    return tuple(log(candidate[block] / baseline[block]) for block in common)


def measured_ends(logarithms: Sequence[float]) -> Ends:
    """The ends by their blocks; at least 2.

    A deviation of 0, as deterministic metrics have, is taken for a millionth of the difference.
    """
    count = len(logarithms)
    mean = fsum(logarithms) / count
    variance = fsum((value - mean) ** 2 for value in logarithms) / (count - 1)
    deviation = max(sqrt(variance), 1e-6 * abs(mean))
    return Ends(mean, deviation / sqrt(count), deviation)
