"""The ratio of two variants from common blocks whose differences depend on each other."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace

from steelyard.analysis.comparison.comparison_results import Independence
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals import autoregression, cosine_series
from steelyard.analysis.intervals.fieller import MeanPair, interval_for, paired_means
from steelyard.analysis.intervals.mean import mean_of, two_sided
from steelyard.analysis.tests.independence import independence
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.trial_columns import MANY

# Below it a sequence is taken for dependent. Not 5 %: with two tests of each of three
# sequences, one in four answers about sound data would carry a false warning.
DEPENDENCE_LEVEL = 0.01

Quantile = Callable[[float], float]


def is_dependent(found: Independence | None) -> bool:
    """Whether a portmanteau or a trend test speaks against independence, at 1 %."""
    if found is None or found.dependence_p is None or found.trend_p is None:
        return False
    return min(found.dependence_p, found.trend_p) < DEPENDENCE_LEVEL


def contrasts_of(baseline: Sequence[float], candidate: Sequence[float]) -> Sequence[float]:
    """``y - r x`` of each block, r the ratio of the means: a tuple, or an array of many."""
    below = mean_of(baseline)
    ratio = mean_of(candidate) / below if below else 0.0
    if len(baseline) >= MANY:
        import numpy as np

        found = array("d")
        found.frombytes((np.asarray(candidate) - ratio * np.asarray(baseline)).tobytes())
        return found
    return tuple([y - ratio * x for x, y in zip(baseline, candidate, strict=True)])


def dependent_ratio(
    baseline: Sequence[float], candidate: Sequence[float], confidence: float, quantile: Quantile
) -> Interval | None:
    """Fieller's interval that allows for dependence of the blocks; None where there is none.

    Parameters
    ----------
    baseline, candidate : sequence of float
        One value a block, in the order of the blocks.
    confidence : float
        For the result.
    quantile : callable
        From degrees of freedom to the quantile.

    Notes
    -----
    Contrasts that resemble the ones before them: variances times the inflation of a first-order
    autoregression. Contrasts that a portmanteau or trend test calls dependent: by cosine series
    too, and the wider of both.
    """
    contrasts = contrasts_of(baseline, candidate)
    made = interval_for(baseline, candidate)
    found: list[Interval] = []
    tested = is_dependent(independence(contrasts))
    enough = len(contrasts) >= autoregression.FEWEST_BLOCKS
    if (tested and enough) or autoregression.resembles(contrasts):
        memory = autoregression.memory_of(contrasts)
        means = _inflated(paired_means(baseline, candidate), memory.inflation)
        found.append(made(means, quantile(memory.degrees), confidence, autoregression.RATIO_METHOD))
    if tested:
        degrees = cosine_series.cosine_count(len(baseline))
        means = cosine_series.long_run_means(baseline, candidate)
        found.append(made(means, quantile(degrees), confidence, cosine_series.RATIO_METHOD))
    return max(found, key=_width) if found else None


def dependent_interval(
    baseline: Sequence[float], candidate: Sequence[float], confidence: float, widening: float
) -> Interval | None:
    """The same with Student's quantile times `widening`."""
    return dependent_ratio(
        baseline,
        candidate,
        confidence,
        lambda degrees: widening * student_quantile(two_sided(confidence), degrees),
    )


def confirming_interval(
    baseline: Sequence[float], candidate: Sequence[float], confidence: float, widening: float
) -> Interval | None:
    """What has to decide a verdict too before an experiment may end by it; None: nothing more.

    From 20 blocks on that is `dependent_interval`, the answer's own. With fewer no test shows
    whether a program remembers its last run, so that the verdict has to hold as if these contrasts
    were the autoregression that they may be: a clear difference ends there all the same.
    """
    if len(baseline) >= autoregression.FEWEST_BLOCKS:
        return dependent_interval(baseline, candidate, confidence, widening)
    contrasts = contrasts_of(baseline, candidate)
    if len(set(contrasts)) < 2:
        return None
    memory = autoregression.memory_of(contrasts)
    means = _inflated(paired_means(baseline, candidate), memory.inflation)
    quantile = widening * student_quantile(two_sided(confidence), memory.degrees)
    made = interval_for(baseline, candidate)
    return made(means, quantile, confidence, autoregression.RATIO_METHOD)


def _width(interval: Interval) -> float:
    return interval.high - interval.low if isinstance(interval, Estimate) else float("inf")


def _inflated(means: MeanPair, factor: float) -> MeanPair:
    return replace(
        means,
        baseline_variance=factor * means.baseline_variance,
        covariance=factor * means.covariance,
        candidate_variance=factor * means.candidate_variance,
    )
