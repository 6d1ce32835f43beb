"""What a test of a revision says for the change being in it, as a log-likelihood ratio."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, pi, sqrt

from steelyard.analysis.distributions.table_distributions import normal_two_sided_p
from steelyard.core.errors import AnalysisError

# A disturbed measurement may be anywhere. This bounds what one can say: log(99) and no more.
DISTURBED_RATIO = 0.01
_LEAST_ERROR = 1e-6


@dataclass(frozen=True)
class Level:
    """The level on one side of the change.

    Parameters
    ----------
    value : float
        In any unit, the same for both sides and for tests. Logarithms of times suit best.
    standard_error : float
    """

    value: float
    standard_error: float


def evidence_of_answer(slow: bool, error_ratio: float, count: int = 1) -> float:
    """The log-likelihood ratio of `count` equal answers, each wrong with the same probability.

    Parameters
    ----------
    slow : bool
        Whether the answers say that the revision has the change.
    error_ratio : float
        Above 0 and below 0.5.
    count : int, optional
    """
    if not 0.0 < error_ratio < 0.5:
        raise AnalysisError(
            f"An answer is wrong with a probability above 0 and below 0.5; got {error_ratio:g}.",
            field="error",
        )
    said = count * log((1 - error_ratio) / error_ratio)
    return said if slow else -said


def evidence_of_value(
    value: float, standard_error: float, fast: Level, slow: Level, reach: float | None = None
) -> float:
    """The log-likelihood ratio of a measured value.

    Parameters
    ----------
    value, standard_error : float
        Of the revision's measurement.
    fast, slow : Level
        Without and with the change.
    reach : float, optional
        The width over which a disturbed value lies; by default 20 times the difference of levels.

    Notes
    -----
    Normal around either level, with the errors of both; in `DISTURBED_RATIO` of cases anywhere
    within the reach, so that a value far from both levels says nothing.
    """
    gap = abs(slow.value - fast.value)
    if gap == 0.0:
        return 0.0
    disturbed = DISTURBED_RATIO / (20 * gap if reach is None else reach)
    likely = [
        (1 - DISTURBED_RATIO) * _density(value - level.value, standard_error, level) + disturbed
        for level in (slow, fast)
    ]
    return log(likely[0] / likely[1])


def error_of_run(difference: float, standard_deviation: float) -> float:
    """How often one run lies on the wrong side of the middle between the levels."""
    if standard_deviation <= 0.0:
        return _LEAST_ERROR
    tail = normal_two_sided_p(abs(difference) / (2 * standard_deviation)) / 2
    return min(0.499, max(_LEAST_ERROR, tail))


def _density(deviation: float, standard_error: float, level: Level) -> float:
    variance = standard_error**2 + level.standard_error**2
    if variance <= 0.0:
        variance = 1e-18 * (1.0 + level.value**2)
    return exp(-min(700.0, deviation * deviation / (2 * variance))) / sqrt(2 * pi * variance)
