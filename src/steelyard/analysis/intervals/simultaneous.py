"""Quantiles that hold for several comparisons with one baseline together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import erf, exp, sqrt

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import covariance_of, mean_of, two_sided, variance_of

# A loading of 1 is a candidate whose contrast is another's: the integrand then has a step.
_LARGEST_LOADING = 0.98
_FIT_STEPS = 50
_SOLVE_STEPS = 40
_SOLVE_PRECISION = 1e-11
# What lies beyond is below 1e-12 of the probability.
_NORMAL_REACH = 7.2


def group_confidence(confidence: float, group_count: int) -> float:
    """The confidence of each group of comparisons for which `confidence` holds for all groups.

    Bonferroni's inequality; it assumes nothing of how groups depend on each other.
    """
    return 1.0 - (1.0 - confidence) / max(1, group_count)


def sidak_quantile(confidence: float, degrees: float, comparison_count: int) -> float:
    """An upper bound of the simultaneous quantile, exact for contrasts that do not correlate
    and whose variance is known.

    Šidák, J. Amer. Statist. Assoc. 62 (1967) 626.
    """
    each = confidence ** (1.0 / comparison_count)
    return student_quantile(two_sided(each), degrees)


def simultaneous_quantile(confidence: float, degrees: float, loadings: Sequence[float]) -> float:
    """The quantile for intervals that hold together with probability `confidence`.

    Parameters
    ----------
    confidence : float
    degrees : float
        Degrees of freedom of each contrast's own variance; at least 1.
    loadings : sequence of float
        One per comparison: contrasts j and k correlate by the product of their loadings.
        For one common baseline and alike variances each is sqrt(1/2).

    Notes
    -----
    Dunnett, J. Amer. Statist. Assoc. 50 (1955) 1096, in the form for unlike variances: the
    comparisons' joint normal distribution says which confidence each one needs, Student's t
    with the degrees of its own variance turns that into a quantile. Dunnett's own tables
    suppose one variance that all contrasts share, and are too narrow where each has its own
    (simulated in docs/STATISTICS.md). For many degrees both are the same.
    """
    return student_quantile(two_sided(confidence_of_each(confidence, loadings)), degrees)


def confidence_of_each(confidence: float, loadings: Sequence[float]) -> float:
    """The confidence that each comparison needs for all to hold together with `confidence`."""
    rounded = tuple(sorted(round(min(abs(item), _LARGEST_LOADING), 3) for item in loadings))
    return each_confidence(confidence, rounded)


def contrast_loadings(
    baseline: Sequence[float], candidates: Sequence[Sequence[float]]
) -> tuple[float, ...]:
    """The loadings of the contrasts ``y_j - r_j x`` over blocks that ran every variant.

    Parameters
    ----------
    baseline : sequence of float
        One value a block.
    candidates : sequence of sequence of float
        The same of each candidate.

    Notes
    -----
    One factor is fitted to the correlations (minres, Harman and Jones, Psychometrika 31 (1966)
    351); for two candidates that is exact. With fewer than 4 blocks correlations say nothing
    and 0, which gives the widest intervals, is taken.
    """
    count = len(candidates)
    if len(baseline) < 4 or mean_of(baseline) == 0.0:
        return (0.0,) * count
    contrasts = [_contrast(baseline, candidate) for candidate in candidates]
    deviations = [sqrt(variance_of(contrast)) for contrast in contrasts]
    if min(deviations) == 0.0:
        return (0.0,) * count
    correlations = [
        [
            covariance_of(contrasts[j], contrasts[k]) / (deviations[j] * deviations[k])
            for k in range(count)
        ]
        for j in range(count)
    ]
    return one_factor(correlations)


def one_factor(correlations: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Loadings whose products come closest to the correlations off the diagonal."""
    count = len(correlations)
    if count == 2:
        root = sqrt(abs(correlations[0][1]))
        return (root, root)
    loadings = [sqrt(max(0.01, (sum(row) - 1.0) / (count - 1))) for row in correlations]
    for _ in range(_FIT_STEPS):
        for j in range(count):
            others = [k for k in range(count) if k != j]
            below = sum(loadings[k] ** 2 for k in others)
            above = sum(correlations[j][k] * loadings[k] for k in others)
            fitted = above / below if below > 0 else 0.0
            loadings[j] = max(-_LARGEST_LOADING, min(_LARGEST_LOADING, fitted))
    return tuple(loadings)


def _contrast(baseline: Sequence[float], candidate: Sequence[float]) -> list[float]:
    ratio = mean_of(candidate) / mean_of(baseline)
    return [y - ratio * x for x, y in zip(baseline, candidate, strict=True)]


@lru_cache(maxsize=256)
def each_confidence(confidence: float, loadings: tuple[float, ...]) -> float:
    """The confidence of each of several normal contrasts that hold together.

    Parameters
    ----------
    confidence : float
        Of all together.
    loadings : tuple of float
        As in `simultaneous_quantile`, none above 0.98.

    Notes
    -----
    Solves ``P(max |Z_j| <= c) = confidence`` for c by false position between the bounds for
    one comparison and for contrasts that do not correlate.
    """
    low = normal_quantile(two_sided(confidence))
    high = normal_quantile(two_sided(confidence ** (1.0 / len(loadings))))
    low_excess = _probability(low, loadings) - confidence
    high_excess = _probability(high, loadings) - confidence
    if high_excess <= _SOLVE_PRECISION:
        return erf(high / sqrt(2.0))
    middle = high
    for _ in range(_SOLVE_STEPS):
        middle = low - low_excess * (high - low) / (high_excess - low_excess)
        excess = _probability(middle, loadings) - confidence
        if abs(excess) < _SOLVE_PRECISION:
            break
        # Illinois' variant of the false position keeps both ends moving.
        if excess > 0:
            high, high_excess, low_excess = middle, excess, low_excess / 2
        else:
            low, low_excess, high_excess = middle, excess, high_excess / 2
    return erf(middle / sqrt(2.0))


def _probability(bound: float, loadings: tuple[float, ...]) -> float:
    """The probability that no ``|Z_j|`` exceeds the bound: given the common factor the Z_j are
    independent, and the mean over it is taken by the trapezoidal rule, which for such an
    integrand converges exponentially."""
    grouped = [(loading, loadings.count(loading)) for loading in sorted(set(loadings))]
    scales = [(a, 1.0 / sqrt(2.0 * (1.0 - a * a)), power) for a, power in grouped]
    total = 0.0
    for factor, weight in _normal_nodes(loadings[-1]):
        product = weight
        for loading, scale, power in scales:
            shift = loading * factor
            inside = erf((shift + bound) * scale) - erf((shift - bound) * scale)
            product *= (0.5 * inside) ** power
        total += product
    return total


@lru_cache(maxsize=32)
def _normal_nodes(largest_loading: float) -> tuple[tuple[float, float], ...]:
    """Nodes from 0 up and weights for the mean over a standard normal; the integrand is even."""
    step = min(0.3, 0.6 * sqrt(1.0 - largest_loading * largest_loading))
    nodes = [(i * step, exp(-0.5 * (i * step) ** 2)) for i in range(int(_NORMAL_REACH / step) + 1)]
    weights = [weight if i == 0 else 2.0 * weight for i, (_, weight) in enumerate(nodes)]
    total = sum(weights)
    return tuple((node, w / total) for (node, _), w in zip(nodes, weights, strict=True))
