"""Fieller's interval for the ratio of two means, with covariance between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, frexp, inf, sqrt

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import (
    covariance_of,
    lowest_of,
    mean_of,
    one_value,
    two_sided,
    variance_of,
)
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Interval, Unbounded

RATIO_METHOD = "fieller-blocks"
UNPAIRED_METHOD = "fieller-unpaired"
# Twice as much is still the exponent of a float.
_MOST_EXPONENT = 500
# A ratio that may be a million times as large or as small has no bounds worth the name.
_LARGEST_LOGARITHM = 14.0


@dataclass(frozen=True)
class MeanPair:
    """Two means and how they vary: of the baseline and of the candidate.

    The variances and the covariance are those of the means, not of single values.
    """

    baseline: float
    candidate: float
    baseline_variance: float
    covariance: float
    candidate_variance: float

    @property
    def ratio(self) -> float | None:
        """Candidate / baseline; None where the baseline is 0."""
        return self.candidate / self.baseline if self.baseline else None

    def in_own_unit(self) -> MeanPair:
        """The same in a unit in which products of variances are numbers, however large or small
        the means are; it is a power of 2, so that nothing is rounded."""
        exponent = frexp(max(abs(self.baseline), abs(self.candidate)))[1]
        unit = 2.0 ** -max(-_MOST_EXPONENT, min(_MOST_EXPONENT, exponent))
        square = unit * unit
        return MeanPair(
            self.baseline * unit,
            self.candidate * unit,
            self.baseline_variance * square,
            self.covariance * square,
            self.candidate_variance * square,
        )

    def contrast_variance(self, ratio: float) -> float:
        """The variance of ``candidate - ratio * baseline``."""
        variance = (
            self.candidate_variance
            - 2 * ratio * self.covariance
            + ratio * ratio * self.baseline_variance
        )
        return max(0.0, variance)


def paired_means(baseline: Sequence[float], candidate: Sequence[float]) -> MeanPair:
    """The means of two variants that were run in the same blocks. At least 2 blocks."""
    count = len(baseline)
    return MeanPair(
        mean_of(baseline),
        mean_of(candidate),
        variance_of(baseline) / count,
        covariance_of(baseline, candidate) / count,
        variance_of(candidate) / count,
    )


def unpaired_means(baseline: Sequence[float], candidate: Sequence[float]) -> MeanPair:
    """The means of two variants that were run apart. At least 2 values of each."""
    return MeanPair(
        mean_of(baseline),
        mean_of(candidate),
        variance_of(baseline) / len(baseline),
        0.0,
        variance_of(candidate) / len(candidate),
    )


def paired_fieller(
    baseline: Sequence[float],
    candidate: Sequence[float],
    confidence: float,
    quantile: float | None = None,
) -> Interval:
    """The ratio candidate / baseline of the mean, from blocks that ran both.

    Parameters
    ----------
    baseline, candidate : sequence of float
        One value a block, in the same order of blocks.
    confidence : float
        Such as 0.95.
    quantile : float, optional
        Instead of Student's with n - 1 degrees of freedom: an adjusted or simultaneous one.

    Raises
    ------
    AnalysisError
        The sequences differ in length or are empty.

    Notes
    -----
    Inverts Student's test of the mean of ``y - theta x`` over blocks: all theta with
    ``(ybar - theta xbar)^2 <= t^2 (s_yy - 2 theta s_xy + theta^2 s_xx) / n``.
    Fieller, J. R. Statist. Soc. B 16 (1954) 175; Kalibera and Jones, ISMM 2013, equation 5,
    is the same with s_xy = 0. A disturbance that hits both variants of a block alike cancels.
    """
    count = len(baseline)
    if count != len(candidate) or count == 0:
        raise AnalysisError(
            f"A ratio within blocks needs one value a block of each variant, "
            f"not {count} and {len(candidate)}."
        )
    if count == 1:
        ratio = candidate[0] / baseline[0] if baseline[0] else None
        return one_value(ratio, confidence, RATIO_METHOD)
    if quantile is None:
        quantile = student_quantile(two_sided(confidence), count - 1)
    made = interval_for(baseline, candidate)
    return made(paired_means(baseline, candidate), quantile, confidence, RATIO_METHOD)


def unpaired_fieller(
    baseline: Sequence[float],
    candidate: Sequence[float],
    confidence: float,
    quantile: float | None = None,
) -> Interval:
    """The ratio candidate / baseline of the mean, from variants that were run apart.

    Notes
    -----
    Kalibera and Jones, ISMM 2013, equation 5, for numbers of values that may differ. Degrees
    of freedom: Welch's for the contrast ``y - r x`` at the estimated ratio r (Welch,
    Biometrika 34 (1947) 28), which for alike variances and counts are about 2 (n - 1).
    """
    if not baseline or not candidate:
        raise AnalysisError("A ratio needs at least one value of each variant.")
    if len(baseline) < 2 or len(candidate) < 2:
        baseline_mean = mean_of(baseline)
        ratio = mean_of(candidate) / baseline_mean if baseline_mean else None
        return one_value(ratio, confidence, UNPAIRED_METHOD)
    means = unpaired_means(baseline, candidate)
    if quantile is None:
        degrees = welch_degrees(means, len(baseline), len(candidate))
        quantile = student_quantile(two_sided(confidence), degrees)
    made = interval_for(baseline, candidate)
    return made(means, quantile, confidence, UNPAIRED_METHOD)


def interval_for(
    baseline: Sequence[float], candidate: Sequence[float]
) -> Callable[[MeanPair, float, float, str], Interval]:
    """How the ratio of these values gets its interval: values above 0 always have one."""
    lowest = min(lowest_of(baseline), lowest_of(candidate))
    return positive_ratio_interval if lowest > 0.0 else fieller_interval


def welch_degrees(means: MeanPair, baseline_count: int, candidate_count: int) -> float:
    """Degrees of freedom of the contrast of two variants that were run apart.

    Welch's approximation, Biometrika 34 (1947) 28. At least 2 values of each.
    """
    ratio = means.ratio or 0.0
    baseline = ratio * ratio * means.baseline_variance
    candidate = means.candidate_variance
    fewest = float(min(baseline_count, candidate_count) - 1)
    total = baseline + candidate
    if total <= 0:
        return fewest
    # By shares, whose squares are numbers whatever the unit.
    own, other = baseline / total, candidate / total
    return max(fewest, 1 / (own**2 / (baseline_count - 1) + other**2 / (candidate_count - 1)))


def fieller_interval(means: MeanPair, quantile: float, confidence: float, method: str) -> Interval:
    """Every ratio that the data do not contradict, or why these have no bounds.

    Parameters
    ----------
    means : MeanPair
    quantile : float
        How many standard errors from zero a contrast may be; infinite gives no bounds.
    confidence, method
        For the result.

    Notes
    -----
    Roots of ``A theta^2 - 2 B theta + C`` with ``A = x^2 - q^2 v_xx``, ``B = x y - q^2 v_xy``,
    ``C = y^2 - q^2 v_yy``. The discriminant is taken in the form in which the large terms have
    been cancelled by hand. With A <= 0 the baseline cannot be told from 0 and the set is the
    outside of an interval or the whole line.
    """
    if quantile == inf:
        return _too_few(means.ratio, confidence, method)
    means = means.in_own_unit()
    x, y, square = means.baseline, means.candidate, quantile * quantile
    ratio = means.ratio
    if ratio is None:
        return _unbounded_at_zero(confidence, method)
    leading = x * x - square * means.baseline_variance
    middle = x * y - square * means.covariance
    determinant = means.baseline_variance * means.candidate_variance - means.covariance**2
    inner = x * x * means.contrast_variance(ratio) - square * max(0.0, determinant)
    if leading <= 0.0:
        return _unbounded(ratio, leading, middle, quantile, inner, (confidence, method))
    root = quantile * sqrt(max(0.0, inner))
    low, high = (middle - root) / leading, (middle + root) / leading
    return Estimate(ratio, min(low, ratio), max(high, ratio), confidence, method)


def positive_ratio_interval(
    means: MeanPair, quantile: float, confidence: float, method: str
) -> Interval:
    """Fieller's interval; where it has no bounds, that of the logarithm, which always has.

    Parameters
    ----------
    means : MeanPair
        Of values that are all above 0, as times are.
    quantile, confidence, method
        As in `fieller_interval`.

    Notes
    -----
    By the delta method ``log y - log x`` varies as ``(y - r x) / y`` does: the same as
    `geometric_mean_interval.py` has for one program. Where Fieller's set has no bounds it holds the
    truth in 95 % or more (simulated in docs/STATISTICS.md). Its method begins with ``log-delta``.
    """
    found = fieller_interval(means, quantile, confidence, method)
    if isinstance(found, Estimate):
        # No ratio of means of such values is below 0: what Fieller's set has there holds nothing.
        return found if found.low >= 0.0 or not found.estimate > 0.0 else replace(found, low=0.0)
    if found.reason != "baseline-near-zero":
        return found
    ratio = means.ratio
    if ratio is None or not ratio > 0.0:
        return found
    own = means.in_own_unit()
    reach = quantile * sqrt(own.contrast_variance(ratio)) / own.candidate
    if reach > _LARGEST_LOGARITHM:
        return found
    named = method.replace("fieller", "log-delta")
    return Estimate(ratio, ratio * exp(-reach), ratio * exp(reach), confidence, named)


def with_sign(interval: Interval, baseline_mean: float) -> Interval:
    """The interval where the baseline is above 0: only then is a ratio below 1 one to less."""
    if not isinstance(interval, Estimate) or baseline_mean > 0:
        return interval
    return Unbounded(
        interval.estimate,
        interval.confidence,
        interval.method,
        "baseline-negative",
        "The mean of the baseline is below 0, so that a ratio to it does not tell which is less.",
    )


def _too_few(ratio: float | None, confidence: float, method: str) -> Unbounded:
    return Unbounded(
        ratio,
        confidence,
        method,
        "few-blocks",
        "There are too few blocks for an interval that holds however often one looks. More "
        "blocks mend it.",
    )


def _unbounded_at_zero(confidence: float, method: str) -> Unbounded:
    return Unbounded(
        None,
        confidence,
        method,
        "baseline-zero",
        "The mean of the baseline is 0, so that a ratio to it has no meaning.",
    )


def _unbounded(
    ratio: float,
    leading: float,
    middle: float,
    quantile: float,
    inner: float,
    labels: tuple[float, str],
) -> Unbounded:
    confidence, method = labels
    start = (
        "The baseline varies so much against its mean that it cannot be told from 0 at "
        f"{100 * confidence:g} % confidence, so the ratio has no bounds: "
    )
    if inner >= 0.0 and leading < 0.0:
        root = quantile * sqrt(inner)
        ends = sorted(((middle - root) / leading, (middle + root) / leading))
        middle_part = f"only ratios between {ends[0]:.4g} and {ends[1]:.4g} can be excluded."
    else:
        middle_part = "no ratio at all can be excluded."
    return Unbounded(
        ratio,
        confidence,
        method,
        "baseline-near-zero",
        f"{start}{middle_part} More blocks, or a quieter machine, mend it.",
    )
