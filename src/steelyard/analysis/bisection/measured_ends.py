"""How far the two ends of a search lie apart, in logarithms of the ratio within blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt

from steelyard.analysis.bisection.evidence import Level, error_of_run, evidence_of_value
from steelyard.core.errors import AnalysisError

_LEAST_DEVIATION = 1e-6
# How often a block of a machine that others use says the wrong thing, however small the deviation.
_DISTURBED = 0.05


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
        """How often one block says the wrong thing: by its deviation, and where it has one at
        least as often as something else on the machine looks like the change."""
        by_deviation = error_of_run(self.difference, self.deviation)
        return max(_DISTURBED, by_deviation) if self._varies else by_deviation

    @property
    def _varies(self) -> bool:
        return self.deviation > 2.0 * _LEAST_DEVIATION * abs(self.difference)

    def evidence(self, logarithms: Sequence[float]) -> float:
        """What blocks of a revision against the end without the change say for its having it.

        Each block says so much at most as its `error_ratio` lets it: a neighbour that slows one
        down by as much as the change does is no rare thing, and several blocks outvote it.
        """
        slow, fast = Level(self.difference, self.standard_error), Level(0.0, 0.0)
        most = log((1.0 - self.error_ratio) / self.error_ratio)
        said = [evidence_of_value(value, self.deviation, fast, slow) for value in logarithms]
        return fsum(min(most, max(-most, each)) for each in said)


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

    A deviation of 0, as deterministic metrics have, is taken for a millionth of the difference,
    and no block of theirs for a disturbed one.
    """
    count = len(logarithms)
    mean = fsum(logarithms) / count
    variance = fsum((value - mean) ** 2 for value in logarithms) / (count - 1)
    deviation = max(sqrt(variance), _LEAST_DEVIATION * abs(mean))
    return Ends(mean, deviation / sqrt(count), deviation)
