"""What an evaluation's cases come to: errors by quantile, against the share answered, and whose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.core.estimate import Estimate
from steelyard.predict.platforms.model_evaluation import Case, Evaluated
from steelyard.predict.wilson import wilson_interval

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
SHARES = tuple(share / 20 for share in range(1, 21))
# The tenth of the cases that Oliveira 2015, table 7.3, blames on hosts and benchmarks.
WORST_SHARE = 0.1


@dataclass(frozen=True)
class ShareError:
    """Errors of the share of cases that are least in doubt."""

    share: float
    error_median: float
    error_p95: float
    error_max: float


@dataclass(frozen=True)
class Blame:
    """The worst tenth of cases.

    Parameters
    ----------
    cases : int
    least_error : float
        The smallest error among them.
    by_host, by_application : tuple of (int, int)
        Places and counts, most first.
    dropped : tuple of int
        Applications with more than one case among them, as far as they are a fifth of all.
    error_max : float
        The largest error of the whole table without those applications.
    """

    cases: int
    least_error: float
    by_host: tuple[tuple[int, int], ...]
    by_application: tuple[tuple[int, int], ...]
    dropped: tuple[int, ...]
    error_max: float


@dataclass(frozen=True)
class Score:
    """One model's errors.

    Parameters
    ----------
    evaluated : Evaluated
    answered_ratio : float
        Share of the cases that were not refused.
    answered, everything : tuple of float or None
        Errors of answered and of all cases at `QUANTILES`; None where there are none.
    coverage : Estimate or None
        Share of intervals that hold the measured value.
    curve : tuple of ShareError
        Empty where the model gives nothing to rank its answers by.
    blame : Blame or None
    """

    evaluated: Evaluated
    answered_ratio: float
    answered: tuple[float, ...] | None
    everything: tuple[float, ...] | None
    coverage: Estimate | None
    curve: tuple[ShareError, ...]
    blame: Blame | None


def score_cases(evaluated: Evaluated) -> Score:
    """The score of one model with one count of known hosts."""
    cases = evaluated.cases
    answered = [case for case in cases if not case.refused]
    return Score(
        evaluated,
        len(answered) / len(cases) if cases else 0.0,
        _quantiles(answered),
        _quantiles(cases),
        _coverage(cases),
        error_by_share(cases),
        blame_worst(cases),
    )


def _quantiles(cases: Sequence[Case]) -> tuple[float, ...] | None:
    if not cases:
        return None
    found = np.quantile([case.error_ratio for case in cases], QUANTILES)
    return tuple(float(value) for value in found)


def _coverage(cases: Sequence[Case]) -> Estimate | None:
    """Wilson's interval (1927) at 95 % for the share of intervals that hold."""
    held = [case.covered for case in cases if case.covered is not None]
    if not held:
        return None
    found = wilson_interval(sum(held), len(held))
    return found if isinstance(found, Estimate) else None


def error_by_share(cases: Sequence[Case]) -> tuple[ShareError, ...]:
    """Errors when only the least doubtful share is answered (Oliveira 2015, figure 7.8)."""
    doubts = np.array([case.doubt for case in cases])
    if not len(doubts) or np.isnan(doubts).any():
        return ()
    errors = np.array([case.error_ratio for case in cases])[np.argsort(doubts, kind="stable")]
    found: list[ShareError] = []
    for share in SHARES:
        kept = errors[: max(round(share * len(errors)), 1)]
        median, p95, worst = (float(value) for value in np.quantile(kept, (0.5, 0.95, 1.0)))
        found.append(ShareError(share, median, p95, worst))
    return tuple(found)


def blame_worst(cases: Sequence[Case]) -> Blame | None:
    """Which hosts and benchmarks the worst tenth of cases is about (Oliveira 2015, table 7.3)."""
    if not cases:
        return None
    ranked = sorted(cases, key=lambda case: -case.error_ratio)
    worst = ranked[: max(round(len(ranked) * WORST_SHARE), 1)]
    by_host = Counter(case.host for case in worst).most_common()
    by_application = Counter(case.application for case in worst).most_common()
    fifth = max(len({case.application for case in cases}) // 5, 1)
    dropped = tuple(place for place, count in by_application if count > 1)[:fifth]
    rest = [case.error_ratio for case in cases if case.application not in dropped]
    return Blame(
        len(worst),
        worst[-1].error_ratio,
        tuple(by_host),
        tuple(by_application),
        dropped,
        max(rest, default=0.0),
    )


def error_box(cases: Sequence[Case]) -> tuple[float, ...] | None:
    """The 5th, 25th, 50th, 75th, 95th and 100th percentile of all errors, for a box plot."""
    if not cases:
        return None
    found = np.quantile([case.error_ratio for case in cases], (0.05, 0.25, 0.5, 0.75, 0.95, 1.0))
    return tuple(float(value) for value in found)
