"""Whether the iterations inside executions depend on each other, over all executions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p

import numpy as np

from steelyard.analysis.independence import FEWEST_VALUES, ljung_box
from steelyard.core.model import Caution

# The test of each execution, and that of how many of them reject.
LEVEL = 0.01
# Hyndman and Athanasopoulos, Forecasting (3rd ed.), section 5.4, as in `independence`.
_TESTED_LAGS = 10


@dataclass(frozen=True)
class DependentExecutions:
    """How many executions have iterations that depend on each other.

    `dependent` of `tested` executions reject independence at `LEVEL`; `p` is the probability of
    as many or more if all were independent.
    """

    tested: int
    dependent: int
    p: float


def dependent_executions(series: Iterable[Sequence[float]]) -> DependentExecutions:
    """Test each execution (Ljung and Box), and then how many rejected (binomial).

    Executions with fewer than 8 iterations, or with all alike, are not tested.
    """
    tested = dependent = 0
    for values in series:
        p = _dependence_p(values)
        if p is not None:
            tested += 1
            dependent += p < LEVEL
    return DependentExecutions(tested, dependent, _binomial_tail(dependent, tested, LEVEL))


def dependence_cautions(found: DependentExecutions, what: str) -> Iterable[Caution]:
    """What to say where too many executions are dependent."""
    if found.p < LEVEL:
        yield Caution(
            "dependent-iterations",
            f"The {what} of {found.dependent} of {found.tested} executions depend on each other "
            f"(p < {LEVEL:.0%} in each), so that how they vary does not tell what more of them "
            "would buy: the count of iterations is not to be trusted. `steelyard analyze --method "
            "states` proposes how many to drop as warm-up (--warmup-iterations); where that does "
            "not help, keep the same single iteration of each execution (--repeat iteration=1).",
        )


def _dependence_p(values: Sequence[float]) -> float | None:
    count = len(values)
    if count < FEWEST_VALUES:
        return None
    deviations = np.asarray(values, dtype=np.float64)
    mean = float(deviations.mean())
    deviations = deviations - mean
    total = float(deviations @ deviations)
    # Below it, all that varies is the rounding of the values themselves.
    if not total > count * (1e-15 * mean) ** 2:
        return None
    lags = range(1, 1 + max(1, min(_TESTED_LAGS, count // 5)))
    return ljung_box([float(deviations[lag:] @ deviations[:-lag]) / total for lag in lags], count)


def _binomial_tail(successes: int, count: int, p: float) -> float:
    """The probability of as many successes or more."""
    # In logarithms: of a thousand executions the coefficients are beyond the range of floats.
    constant, chance, other = lgamma(count + 1), log(p), log1p(-p)
    below = fsum(
        exp(constant - lgamma(k + 1) - lgamma(count - k + 1) + k * chance + (count - k) * other)
        for k in range(successes)
    )
    return max(0.0, 1.0 - below)
