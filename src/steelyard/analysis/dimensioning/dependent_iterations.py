"""Whether the iterations inside executions depend on each other, over all executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma

import numpy as np

from steelyard.analysis.distributions.chi_squared import chi_squared_quantile
from steelyard.analysis.tables.data_columns import Floats
from steelyard.analysis.tests.independence import FEWEST_VALUES
from steelyard.core.experiment_results import Caution

# The test of each execution, and that of how many of them reject.
LEVEL = 0.01
# Hyndman and Athanasopoulos, Forecasting (3rd ed.), section 5.4, as in `independence`.
_TESTED_LAGS = 10
# As many shuffled executions tell how often the test rejects: so many, unless there are more
# executions than that, or so many values that the asymptotic distribution holds.
_SHUFFLED = 2_000
_SHUFFLED_VALUES = 2_000_000


@dataclass(frozen=True)
class DependentExecutions:
    """How many executions have iterations that depend on each other.

    `dependent` of `tested` executions reject independence at `LEVEL`; `p` is the probability of
    as many or more if all were independent.
    """

    tested: int
    dependent: int
    p: float


def dependent_executions(series: Iterable[Sequence[float]], seed: int = 0) -> DependentExecutions:
    """Test each execution (Ljung and Box), and then how many rejected.

    Executions with fewer than 8 iterations, or with all alike, are not tested.

    Parameters
    ----------
    series : sequences of float
        The iterations of each execution, in their order.
    seed : int
        Of the shuffles.

    Notes
    -----
    Against chi-squared the test of a short execution rejects more often than its level (of 100
    normal values, 10 lags, in 1.9 % instead of 1 %), which thousands of executions would bring to
    light as dependence. So the same executions with their iterations shuffled, which have none,
    are tested too, and both counts of rejections compared by Fisher's exact test (The Design of
    Experiments, 1935).
    """
    rows = _rows_by_length(series)
    tested = sum(map(len, rows))
    if not tested:
        return DependentExecutions(0, 0, 1.0)
    generator = np.random.default_rng(seed)
    values = sum(found.size for found in rows)
    shuffles = max(1, min(-(-_SHUFFLED // tested), _SHUFFLED_VALUES // values))
    dependent = sum(map(_rejections, rows))
    by_chance = sum(
        _rejections(generator.permuted(found, axis=1)) for found in rows for _ in range(shuffles)
    )
    p = _hypergeometric_tail(dependent, by_chance, tested, tested * shuffles)
    return DependentExecutions(tested, dependent, p)


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


def _rows_by_length(series: Iterable[Sequence[float]]) -> list[Floats]:
    """Deviations from the mean, executions of one length in one matrix."""
    rows: dict[int, list[Sequence[float]]] = defaultdict(list)
    for values in series:
        if len(values) >= FEWEST_VALUES:
            rows[len(values)].append(values)
    found: list[Floats] = []
    for length, group in rows.items():
        values_of = np.asarray(group, dtype=np.float64)
        means = values_of.mean(axis=1, keepdims=True)
        deviations = values_of - means
        totals = np.einsum("ij,ij->i", deviations, deviations)
        # Below it, all that varies is the rounding of the values themselves.
        varies = totals > length * np.square(1e-15 * means[:, 0])
        if varies.any():
            found.append(deviations[varies])
    return found


def _rejections(deviations: Floats) -> int:
    """How many executions reject independence at `LEVEL` (`independence.ljung_box`, by its
    critical value)."""
    count = deviations.shape[1]
    lags = range(1, 1 + max(1, min(_TESTED_LAGS, count // 5)))
    totals = np.einsum("ij,ij->i", deviations, deviations)
    statistic = np.zeros(len(deviations))
    for lag in lags:
        sums = np.einsum("ij,ij->i", deviations[:, lag:], deviations[:, :-lag])
        statistic += np.square(sums / totals) / (count - lag)
    statistic *= count * (count + 2)
    return int((statistic > chi_squared_quantile(1 - LEVEL, len(lags))).sum())


def _hypergeometric_tail(successes: int, others: int, count: int, other_count: int) -> float:
    """The probability that as many or more of all successes fall into the first `count`."""
    drawn, total = successes + others, count + other_count
    constant = _log_choices(total, drawn)
    return min(
        1.0,
        fsum(
            exp(_log_choices(count, k) + _log_choices(other_count, drawn - k) - constant)
            for k in range(successes, min(count, drawn) + 1)
            if drawn - k <= other_count
        ),
    )


def _log_choices(total: int, drawn: int) -> float:
    return lgamma(total + 1) - lgamma(drawn + 1) - lgamma(total - drawn + 1)
