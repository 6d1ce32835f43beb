"""Degrees of freedom of the sums of squares of nested levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.analysis.variance.component_tails import degrees_with_tails
from steelyard.analysis.variance.level_layers import Layer
from steelyard.analysis.variance.nested_values import Floats

# From fewer top units the scatter of their sums of squares tells too little.
_FEWEST_UNITS = 10


def degrees_of_freedom(
    layers: Sequence[Layer], place: int, components: Floats
) -> tuple[float, float]:
    """The degrees of freedom of the chi-squared that is most like a level's sum of squares.

    Parameters
    ----------
    layers : sequence of Layer
        Lowest first.
    place : int
        The layer of the sum ``sum N (m - centre)^2`` over means m of N measurements each.
    components : array
        The variances of this layer and those below, 0 or above.

    Returns
    -------
    float, float
        For a comparison of experiments whose effects are alike: of effects that are normal at the
        top level. For an interval: of effects that need not be.

    Notes
    -----
    ``2 E^2 / Var`` (Satterthwaite, Biometrics Bull. 2 (1946) 110). For normal effects both come
    from the matrix of the form in a parent, ``diag(N) - N N' / sum N``, and the variances that
    components give to the means. Below the top level the sums of the top units are independent
    of each other, so that their scatter tells the variance whatever the distribution; the fewer
    degrees of both are taken, because heavy tails only ever take away.
    """
    layer = layers[place]
    nominal = len(layer.parent) - layer.parent_count
    below = [c * s for c, s in zip(components.tolist(), layer.square_sizes, strict=True)]
    variance = np.sum(below, axis=0) / layer.size**2
    weight, total = layer.size, layer.gathered(layer.size)
    spread = layer.gathered(weight**2 * variance) / total
    expected = layer.gathered(weight * variance) - spread
    squares = (weight * variance) ** 2
    trace = squares.sum() - 2 * (layer.gathered(squares * weight) / total).sum()
    trace = float(trace + (spread**2).sum())
    whole = float(expected.sum())
    if trace <= 0 or whole <= 0:
        return float(nominal), degrees_with_tails(layer, float(nominal))
    normal = whole * whole / trace
    scatter = _degrees_by_scatter(layers, place, expected)
    return min(normal, scatter), min(degrees_with_tails(layer, normal), scatter)


def _degrees_by_scatter(layers: Sequence[Layer], place: int, expected: Floats) -> float:
    """The same from the scatter of the sums of squares of the top units around the expected."""
    layer = layers[place]
    centre = layer.gathered(layer.size * layer.mean) / layer.gathered(layer.size)
    found = layer.gathered(layer.size * (layer.mean - centre[layer.parent]) ** 2)
    for above in layers[place + 1 : -1]:
        found, expected = above.gathered(found), above.gathered(expected)
    count, whole = len(found), float(found.sum())
    if layer is layers[-1] or count < _FEWEST_UNITS:
        return float("inf")
    deviations = found - expected * (whole / float(expected.sum()))
    variance = float(deviations @ deviations) * count / (count - 1)
    return 2 * whole * whole / variance if variance > 0 else float("inf")
