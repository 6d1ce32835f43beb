"""How much each repetition level contributes to the variation of measurements."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Literal

import numpy as np

from steelyard.analysis.chi_squared import chi_squared_quantile
from steelyard.analysis.mean import mean_interval, two_sided
from steelyard.analysis.nested import Floats, Integers, NestedValues
from steelyard.core.estimate import Estimate, Interval, Unbounded

COMPONENT_METHOD = "anova-satterthwaite-mover"
Estimator = Literal["anova-balanced", "anova-henderson-1"]


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
    """

    level: str
    count: int
    mean_count: float
    unit_count: int
    biased_variance: float | None
    variance: Interval
    variation: float | None

    @property
    def repeated(self) -> bool:
        """Whether its own variance can be told."""
        return isinstance(self.variance, Estimate)


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of each repetition level, highest first.

    `mean` is that of the means of the highest repeated level, each level being reduced by its
    mean, with Student's interval. `estimator` is ``"anova-balanced"`` (equations 1 and 2) where
    all counts are alike, else ``"anova-henderson-1"``.
    """

    levels: tuple[LevelVariance, ...]
    mean: Interval
    estimator: Estimator
    measurement_count: int


@dataclass(frozen=True)
class _Layer:
    """A repeated level: its units, seen from their parents.

    `parent` and `parent_count` lead to the next repeated level above; `size` is how many
    measurements each unit holds, `mean` the mean of them, `mean_of_means` the mean with each
    level below reduced by its mean. `square_sizes[j]` sums, for each unit, the squared sizes
    of its units at the repeated level `j` (0 is the lowest).
    """

    parent: Integers
    parent_count: int
    size: Floats
    mean: Floats
    mean_of_means: Floats
    square_sizes: tuple[Floats, ...]

    def gathered(self, weights: Floats) -> Floats:
        """The sum of `weights` over the units of each parent."""
        sums = np.bincount(self.parent, weights, minlength=self.parent_count)
        return sums.astype(np.float64, copy=False)


def variance_components(data: NestedValues, confidence: float) -> VarianceComponents:
    """The variance that each repetition level contributes, with intervals.

    Parameters
    ----------
    data : NestedValues
        Any number of levels, counts alike or not.
    confidence : float
        Such as 0.95.

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

    Intervals: each SS_i is taken for a multiple of chi-squared with Satterthwaite's degrees of
    freedom (exact for equal counts); their limits are joined by the method of variance
    estimates recovery (Zou and Donner, Statist. Med. 27 (2008) 1693; Graybill and Wang, JASA 75
    (1980) 869). Assumes that what a level adds is normal: skewed times get intervals of
    variances that are too narrow. Nothing else in a dimensioning rests on them.
    """
    unit_counts = data.unit_counts()
    repeated = [d for d, (above, own) in enumerate(pairwise((1, *unit_counts))) if own > above]
    layers = _layers(data, repeated)
    top: list[float] = (layers[-1].mean_of_means if layers else data.values).tolist()
    mean = mean_interval(top, confidence)
    variances = dict(zip(reversed(repeated), _components(layers, confidence), strict=True))
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
            )
        )
    estimator: Estimator = "anova-balanced" if data.balanced else "anova-henderson-1"
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


def _layers(data: NestedValues, repeated: list[int]) -> list[_Layer]:
    """The repeated levels, lowest first."""
    layers: list[_Layer] = []
    size = np.ones(len(data.values))
    mean = mean_of_means = data.values
    square_sizes: tuple[Floats, ...] = ()
    places = [-1, *repeated]
    for place in range(len(repeated) - 1, -1, -1):
        # Between two repeated levels every unit has one child, so that indices carry over.
        parent = data.parents[repeated[place]]
        parent_count = len(data.parents[places[place]]) if place else 1
        layer = _Layer(parent, parent_count, size, mean, mean_of_means, (*square_sizes, size**2))
        layers.append(layer)
        square_sizes = tuple(layer.gathered(squares) for squares in layer.square_sizes)
        size = layer.gathered(layer.size)
        mean = layer.gathered(layer.size * layer.mean) / size
        mean_of_means = layer.gathered(mean_of_means) / np.bincount(parent, minlength=parent_count)
    return layers


def _biased_variance(layer: _Layer) -> float:
    """S_i^2; with unequal counts the units are weighed alike and degrees of freedom pooled."""
    counts = np.bincount(layer.parent, minlength=layer.parent_count)
    centre = layer.gathered(layer.mean_of_means) / counts
    deviations = layer.mean_of_means - centre[layer.parent]
    return float(deviations @ deviations) / (len(layer.parent) - layer.parent_count)


def _sum_of_squares(layer: _Layer) -> float:
    centre = layer.gathered(layer.size * layer.mean) / layer.gathered(layer.size)
    deviations = layer.mean - centre[layer.parent]
    return float((layer.size * deviations) @ deviations)


def _expectations(layers: list[_Layer]) -> Floats:
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


def _components(layers: list[_Layer], confidence: float) -> list[Estimate]:
    """T_i^2 with its interval for each layer."""
    if not layers:
        return []
    sums = np.array([_sum_of_squares(layer) for layer in layers])
    coefficients = np.asarray(np.linalg.inv(_expectations(layers)), dtype=np.float64)
    found = coefficients @ sums
    degrees = [_degrees(layers[i], np.maximum(found[: i + 1], 0.0)) for i in range(len(layers))]
    low, high = _limits(sums, degrees, confidence)
    estimates: list[Estimate] = []
    for weights, value in zip(coefficients, found.tolist(), strict=True):
        plus, minus = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        down = sqrt(float(((plus * (sums - low)) ** 2 + (minus * (high - sums)) ** 2).sum()))
        up = sqrt(float(((plus * (high - sums)) ** 2 + (minus * (sums - low)) ** 2).sum()))
        bounds = max(0.0, value - down), max(0.0, value + up)
        estimates.append(Estimate(value, *bounds, confidence, COMPONENT_METHOD))
    return estimates


def _degrees(layer: _Layer, components: Floats) -> float:
    """Satterthwaite's degrees of freedom of a sum of squares, components up to its level given.

    ``2 E^2 / Var`` of ``sum N (m - centre)^2``, whose matrix in a parent with sizes N is
    ``diag(N) - N N' / sum N``, for independent means m with the variances that components give.
    """
    nominal = len(layer.parent) - layer.parent_count
    below = [c * s for c, s in zip(components.tolist(), layer.square_sizes, strict=True)]
    variance = np.sum(below, axis=0) / layer.size**2
    weight, total = layer.size, layer.gathered(layer.size)
    spread = layer.gathered(weight**2 * variance) / total
    expected = float((weight * variance).sum() - spread.sum())
    squares = (weight * variance) ** 2
    trace = squares.sum() - 2 * (layer.gathered(squares * weight) / total).sum()
    trace = float(trace + (spread**2).sum())
    return expected * expected / trace if trace > 0 and expected > 0 else float(nominal)


def _limits(sums: Floats, degrees: list[float], confidence: float) -> tuple[Floats, Floats]:
    p = two_sided(confidence)
    low = [v / chi_squared_quantile(p, v) for v in degrees]
    high = [v / chi_squared_quantile(1 - p, v) for v in degrees]
    return sums * np.array(low), sums * np.array(high)
