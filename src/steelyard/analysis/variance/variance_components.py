"""How much each repetition level contributes to the variation of measurements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from typing import Literal

import numpy as np

from steelyard.analysis.distributions.chi_squared import chi_squared_quantile
from steelyard.analysis.intervals.mean import mean_interval, two_sided
from steelyard.analysis.variance.component_degrees import degrees_of_freedom
from steelyard.analysis.variance.level_layers import Layer, layers_of
from steelyard.analysis.variance.nested_values import Floats, NestedValues
from steelyard.analysis.variance.reml import reml_components
from steelyard.core.estimate import Estimate, Interval, Unbounded

COMPONENT_METHOD = "anova-satterthwaite-mover"
REML_METHOD = f"reml, bounds by {COMPONENT_METHOD}"
Method = Literal["anova", "reml"]
Estimator = Literal["anova-balanced", "anova-henderson-1", "reml"]


@dataclass(frozen=True)
class LevelVariance:
    """What one repetition level contributes.

    Parameters
    ----------
    level : str
    count : int
        Repetitions in a unit of the level above; the largest where units differ.
    mean_count : float
        Their mean.
    unit_count : int
        Repetitions in the whole experiment.
    biased_variance : float or None
        S_i^2 (equation 1): the variance of the means of this level's units around the mean of
        the unit above; it holds what the levels below leave in those means.
    variance : Interval
        T_i^2 (equation 2), what this level adds by itself. An unbiased estimate can be below 0;
        its bounds are never. Unbounded where the level was not repeated.
    variation : float or None
        sqrt(T_i^2) / mean, 0 where T_i^2 is below 0.
    degrees : float or None
        Degrees of freedom of the level's sum of squares, None where it was not repeated.
    normal_high : float or None
        The upper bound of `variance` if the effects of the top level were normal: what counts are
        planned with where nothing is seen to vary.
    """

    level: str
    count: int
    mean_count: float
    unit_count: int
    biased_variance: float | None
    variance: Interval
    variation: float | None
    degrees: float | None = None
    normal_high: float | None = None

    @property
    def repeated(self) -> bool:
        """Whether its own variance can be told."""
        return isinstance(self.variance, Estimate)


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of each repetition level, highest first.

    `mean` is that of the means of the highest repeated level, each level being reduced by its
    mean, with Student's interval. `estimator` is ``"anova-balanced"`` (equations 1 and 2) where
    all counts are alike, else ``"anova-henderson-1"``; or ``"reml"`` where that was asked for.
    """

    levels: tuple[LevelVariance, ...]
    mean: Interval
    estimator: Estimator
    measurement_count: int


def variance_components(
    data: NestedValues, confidence: float, method: Method = "anova"
) -> VarianceComponents:
    """The variance that each repetition level contributes, with intervals.

    Parameters
    ----------
    data : NestedValues
        Any number of levels, counts alike or not.
    confidence : float
        Such as 0.95.
    method : str
        ``"anova"``, unbiased; or ``"reml"``, never below 0 and more precise where counts differ
        much (`reml_components`), with the bounds of the other.

    Returns
    -------
    VarianceComponents
        A level that was nowhere repeated gets a typed `Unbounded`; what varies there shows in
        the variance of the next repeated level above.

    Notes
    -----
    Kalibera and Jones, ISMM 2013, equations 1 and 2, for equal counts. In general the sums of
    squares of the nested analysis of variance are equated with their expectations (Henderson,
    Biometrics 9 (1953) 226, method I; Searle, Casella and McCulloch, Variance Components, 1992,
    ch. 5): ``E[SS_i] = sum_(j <= i) k_ij sigma_j^2`` with
    ``k_ij = Q_(j,i) - Q_(j,i+1)``, ``Q_(j,m) = sum over units g of level j of
    N_g^2 / N_(unit of level m that holds g)`` and ``Q_(i,i) = N``. It is unbiased for any
    distribution, and the same as equation 2 when counts are equal.

    Intervals: each SS_i is taken for a multiple of chi-squared with the degrees of freedom of
    `degrees_of_freedom`; their limits are joined by the method of variance estimates recovery
    (Zou and Donner, Statist. Med. 27 (2008) 1693; Graybill and Wang, JASA 75 (1980) 869). Effects
    need not be normal: their kurtosis takes degrees away, the more the fewer units there are.
    """
    unit_counts = data.unit_counts()
    repeated = [d for d, (above, own) in enumerate(pairwise((1, *unit_counts))) if own > above]
    # From one of the values: rounding would make values that are all alike differ from their mean.
    origin = float(data.values[0])
    layers = layers_of(replace(data, values=data.values - origin), repeated)
    top: list[float] = (origin + layers[-1].mean_of_means if layers else data.values).tolist()
    mean = mean_interval(top, confidence)
    components, degrees, normal_highs = _components(layers, confidence)
    if method == "reml":
        values = reml_components(layers, [c.estimate for c in components])
        components = [
            replace(c, estimate=value, method=REML_METHOD)
            for c, value in zip(components, values, strict=True)
        ]
    variances = dict(zip(reversed(repeated), components, strict=True))
    free = dict(zip(reversed(repeated), degrees, strict=True))
    highs = dict(zip(reversed(repeated), normal_highs, strict=True))
    biased = dict(zip(reversed(repeated), map(_biased_variance, layers), strict=True))
    levels: list[LevelVariance] = []
    for depth, level in enumerate(data.levels):
        counts = data.repetition_counts(depth)
        variance = variances.get(depth) or _unrepeated(data.levels, depth, repeated, confidence)
        levels.append(
            LevelVariance(
                level=level,
                count=int(counts.max()),
                mean_count=float(counts.mean()),
                unit_count=unit_counts[depth],
                biased_variance=biased.get(depth),
                variance=variance,
                variation=_variation(variance.estimate, mean.estimate),
                degrees=free.get(depth),
                normal_high=highs.get(depth),
            )
        )
    anova: Estimator = "anova-balanced" if data.balanced else "anova-henderson-1"
    estimator = "reml" if method == "reml" else anova
    return VarianceComponents(tuple(levels), mean, estimator, len(data.values))


def _variation(variance: float | None, mean: float | None) -> float | None:
    if variance is None or mean is None or mean <= 0:
        return None
    return sqrt(max(0.0, variance)) / mean


def _unrepeated(
    levels: tuple[str, ...], depth: int, repeated: list[int], confidence: float
) -> Unbounded:
    above = [levels[place] for place in repeated if place < depth]
    if above:
        consequence = f"What it adds is part of the variance of {above[-1]}."
    elif repeated:
        consequence = f"The answer is about this one {levels[depth]} alone."
    else:
        consequence = "Nothing can be told of its variation."
    explanation = f"The level {levels[depth]} was nowhere repeated. {consequence}"
    return Unbounded(None, confidence, COMPONENT_METHOD, "one-repetition", explanation)


def _biased_variance(layer: Layer) -> float:
    """S_i^2; with unequal counts the units are weighed alike and degrees of freedom pooled."""
    counts = np.bincount(layer.parent, minlength=layer.parent_count)
    centre = layer.gathered(layer.mean_of_means) / counts
    deviations = layer.mean_of_means - centre[layer.parent]
    return float(deviations @ deviations) / (len(layer.parent) - layer.parent_count)


def _sum_of_squares(layer: Layer) -> float:
    centre = layer.gathered(layer.size * layer.mean) / layer.gathered(layer.size)
    deviations = layer.mean - centre[layer.parent]
    return float((layer.size * deviations) @ deviations)


def _expectations(layers: list[Layer]) -> Floats:
    """The matrix k_ij: how often each component is in the expectation of each sum of squares."""
    count = len(layers)
    coefficients = np.zeros((count, count))
    for i, layer in enumerate(layers):
        parent_size = layer.gathered(layer.size)
        for j in range(i + 1):
            squares = layer.square_sizes[j]
            within = float((squares / layer.size).sum())
            coefficients[i, j] = within - float((layer.gathered(squares) / parent_size).sum())
    return coefficients


def _components(
    layers: list[Layer], confidence: float
) -> tuple[list[Estimate], list[float], list[float]]:
    """T_i^2 with its interval for each layer, the degrees of its sum of squares, and its upper
    bound if the top level were normal."""
    if not layers:
        return [], [], []
    sums = np.array([_sum_of_squares(layer) for layer in layers])
    coefficients = np.asarray(np.linalg.inv(_expectations(layers)), dtype=np.float64)
    found = coefficients @ sums
    positive = np.maximum(found, 0.0)
    degrees = [degrees_of_freedom(layers, i, positive[: i + 1]) for i in range(len(layers))]
    normal = [of_normal for of_normal, _ in degrees]
    limits = _limits(sums, [with_tails for _, with_tails in degrees], confidence)
    normal_limits = _limits(sums, normal, confidence)
    estimates: list[Estimate] = []
    normal_highs: list[float] = []
    for weights, value in zip(coefficients, found.tolist(), strict=True):
        down, up = _recovered(weights, sums, limits)
        bounds = max(0.0, value - down), max(0.0, value + up)
        estimates.append(Estimate(value, *bounds, confidence, COMPONENT_METHOD))
        normal_highs.append(max(0.0, value + _recovered(weights, sums, normal_limits)[1]))
    return estimates, normal, normal_highs


def _recovered(weights: Floats, sums: Floats, limits: tuple[Floats, Floats]) -> tuple[float, float]:
    """How far the bounds of a weighted sum lie from it, down and up (MOVER)."""
    low, high = limits
    plus, minus = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    down = sqrt(float(((plus * (sums - low)) ** 2 + (minus * (high - sums)) ** 2).sum()))
    up = sqrt(float(((plus * (high - sums)) ** 2 + (minus * (sums - low)) ** 2).sum()))
    return down, up


def _limits(sums: Floats, degrees: list[float], confidence: float) -> tuple[Floats, Floats]:
    p = two_sided(confidence)
    low = [v / chi_squared_quantile(p, v) for v in degrees]
    high = [v / chi_squared_quantile(1 - p, v) for v in degrees]
    return sums * np.array(low), sums * np.array(high)
