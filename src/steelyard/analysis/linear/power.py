"""How often to repeat a design so that an effect of a stated size is found."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.distributions.table_distributions import t_power
from steelyard.core.errors import AnalysisError

# Past it nobody repeats; the answer is then that the effect is too small for this design.
MOST_REPLICATES = 1_000_000


@dataclass(frozen=True)
class SampleSize:
    """Replicates of every point, and the power that they give; None where no number suffices."""

    replicates: int | None
    power: float
    trials: int | None


def two_level_power(
    change: float, deviation: float, points: int, terms: int, replicates: int, confidence: float
) -> float:
    """The power of the test of an effect in a two-level design.

    Parameters
    ----------
    change : float
        Of the response from the low level to the high one: twice the coded effect.
    deviation : float
        Of the response at one point, in the same unit.
    points : int
        Of the design; half of them have each level.
    terms : int
        Of the model, the intercept included.
    replicates : int
    confidence : float

    Notes
    -----
    Student's t, not central: the coded effect has the variance ``deviation^2 / N`` of N trials.
    """
    trials = points * replicates
    degrees = trials - terms
    if degrees < 1:
        return 0.0
    return t_power(abs(change) / 2 / deviation * trials**0.5, float(degrees), confidence)


def two_level_sample_size(
    change: float, deviation: float, points: int, terms: int, power: float, confidence: float
) -> SampleSize:
    """The fewest replicates of a two-level design with at least this power.

    Raises
    ------
    AnalysisError
        A size or a deviation that is not above 0, or a power outside 0 ... 1.
    """
    if not (deviation > 0 and abs(change) > 0 and 0 < power < 1):
        raise AnalysisError(
            "A sample size takes a change and a deviation that are not 0, and a power between 0 "
            f"and 1; it got {change}, {deviation} and {power}.",
            field="power",
        )

    def reached(replicates: int) -> float:
        return two_level_power(change, deviation, points, terms, replicates, confidence)

    high = 1
    while reached(high) < power:
        if high > MOST_REPLICATES:
            return SampleSize(None, reached(high), None)
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return SampleSize(high, reached(high), high * points)
