"""Quantiles that hold for several comparisons with one baseline together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import erf, exp, sqrt

from steelyard.analysis.mean import covariance_of, mean_of, two_sided, variance_of
from steelyard.analysis.student import student_quantile

# A loading of 1 is a candidate whose contrast is another's: the integrand then has a step.
_LARGEST_LOADING = 0.98
_FIT_STEPS = 50
_SOLVE_STEPS = 40
_SOLVE_PRECISION = 1e-9
# Nodes reach to where what is left out is below 1e-9 of the probability.
_NORMAL_REACH = 6.2
_TAIL_LOGARITHM = 22.0


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


def dunnett_quantile(confidence: float, degrees: float, loadings: Sequence[float]) -> float:
    """The q for which ``max |T_j| <= q`` has probability `confidence`.

    Parameters
    ----------
    confidence : float
    degrees : float
        Degrees of freedom of the variance that the T_j share; at least 1.
    loadings : sequence of float
        One per comparison: T_j and T_k correlate by the product of their loadings.
        For one common baseline and alike variances each is sqrt(1/2).

    Notes
    -----
    Dunnett, J. Amer. Statist. Assoc. 50 (1955) 1096. The probability is a double integral, over
    the common factor and the common standard deviation, by the trapezoidal rule, which for
    these integrands converges exponentially; the secant method finds q. The reference tests
    compare it to R's mvtnorm.
    """
    rounded = tuple(sorted(round(min(abs(item), _LARGEST_LOADING), 3) for item in loadings))
    return _solve(confidence, float(degrees), rounded)


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
def _solve(confidence: float, degrees: float, loadings: tuple[float, ...]) -> float:
    """The root, between the quantile of one comparison and Šidák's."""
    low = student_quantile(two_sided(confidence), degrees)
    high = sidak_quantile(confidence, degrees, len(loadings)) * 1.05
    low_excess = _probability(low, degrees, loadings) - confidence
    high_excess = _probability(high, degrees, loadings) - confidence
    for _ in range(_SOLVE_STEPS):
        middle = low - low_excess * (high - low) / (high_excess - low_excess)
        excess = _probability(middle, degrees, loadings) - confidence
        if abs(excess) < _SOLVE_PRECISION:
            return middle
        # Illinois' variant of the false position keeps both ends moving.
        if excess * high_excess > 0:
            high, high_excess, low_excess = middle, excess, low_excess / 2
        else:
            low, low_excess, high_excess = middle, excess, high_excess / 2
    return (low + high) / 2


def _probability(quantile: float, degrees: float, loadings: tuple[float, ...]) -> float:
    """The probability that no ``|T_j|`` exceeds the quantile."""
    grouped = [(loading, loadings.count(loading)) for loading in sorted(set(loadings))]
    scales = [(a, 1.0 / sqrt(2.0 * (1.0 - a * a)), power) for a, power in grouped]
    factors = _normal_nodes(max(loadings))
    total = 0.0
    for deviation, outer_weight in _deviation_nodes(degrees):
        reach = quantile * deviation
        inner = 0.0
        for factor, weight in factors:
            product = weight
            for loading, scale, power in scales:
                shift = loading * factor
                inside = erf((shift + reach) * scale) - erf((shift - reach) * scale)
                product *= (0.5 * inside) ** power
            inner += product
        total += outer_weight * inner
    return total


@lru_cache(maxsize=32)
def _normal_nodes(largest_loading: float) -> tuple[tuple[float, float], ...]:
    """Nodes from 0 up and weights for the mean over a standard normal; the integrand is even."""
    step = min(0.5, 1.2 * sqrt(1.0 - largest_loading * largest_loading))
    nodes = [(i * step, exp(-0.5 * (i * step) ** 2)) for i in range(int(_NORMAL_REACH / step) + 1)]
    weights = [weight if i == 0 else 2.0 * weight for i, (_, weight) in enumerate(nodes)]
    total = sum(weights)
    return tuple((node, w / total) for (node, _), w in zip(nodes, weights, strict=True))


@lru_cache(maxsize=32)
def _deviation_nodes(degrees: float) -> tuple[tuple[float, float], ...]:
    """Nodes and weights for the mean over s = chi / sqrt(degrees), evenly spaced in log s."""
    step = 0.55 / sqrt(2.0 * degrees)

    def exponent(logarithm: float) -> float:
        return degrees * (logarithm - 0.5 * exp(2.0 * logarithm) + 0.5)

    nodes: list[tuple[float, float]] = []
    for direction, first in ((-1, 0), (1, 1)):
        i = first
        while exponent(direction * i * step) > -_TAIL_LOGARITHM:
            at = direction * i * step
            nodes.append((exp(at), exp(exponent(at))))
            i += 1
    total = sum(weight for _, weight in nodes)
    return tuple((node, weight / total) for node, weight in nodes)
