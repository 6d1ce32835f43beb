"""What heavy tails leave of the degrees of freedom of a sum of squares."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.variance.level_layers import Layer
from steelyard.analysis.variance.nested_values import Floats

# Few values hide their tails: those that vary most are the ones that are missing. So the kurtosis
# of an exponential distribution is counted in as if 20 further units had shown it, and what was
# seen is taken for half as much again. Chosen by the coverage of intervals of variances in
# simulated experiments (docs/STATISTICS.md).
_PRIOR_KURTOSIS = 6.0
_PRIOR_UNITS = 20.0
_UNSEEN = 1.5


def degrees_with_tails(layer: Layer, normal_degrees: float) -> float:
    """The degrees of freedom where effects are not normal.

    Parameters
    ----------
    layer : Layer
    normal_degrees : float
        Of the layer's sum of squares if all effects were normal.

    Notes
    -----
    The variance of n units with excess kurtosis k has the variance
    ``sigma^4 (2 / (n - 1) + k / n)`` (Box, Biometrika 40 (1953) 318), so that its degrees are
    ``2 / (2 / v + k / n)``. k is that of the deviations from the mean of the unit above, divided
    by what taking that mean of c units away leaves of it, ``((c - 1)^3 + 1) / (c^2 (c - 1))``. With
    one unit above, deviations are from a trimmed mean (Bonett, Computational Statistics & Data
    Analysis 50 (2006) 775), which sees one-sided tails better.
    """
    count = len(layer.parent)
    siblings = count / layer.parent_count
    seen = max(0.0, _excess_kurtosis(layer)) / _share_left(siblings)
    weight = count + _PRIOR_UNITS
    kurtosis = (count * _UNSEEN * seen + _PRIOR_UNITS * _PRIOR_KURTOSIS) / weight
    return 2.0 / (2.0 / normal_degrees + kurtosis / count)


def _share_left(siblings: float) -> float:
    """How much of the kurtosis of units is in their deviations from the mean of so many."""
    less = max(siblings, 2.0) - 1.0
    return (less**3 + 1.0) / ((less + 1.0) ** 2 * less)


def _excess_kurtosis(layer: Layer) -> float:
    centre = layer.gathered(layer.size * layer.mean) / layer.gathered(layer.size)
    scale = np.sqrt(layer.size)
    deviations = scale * (layer.mean - centre[layer.parent])
    total = float((deviations**2).sum())
    if total <= 0:
        return 0.0
    if layer.parent_count == 1:
        deviations = scale * (layer.mean - _trimmed_mean(layer.mean))
    return len(deviations) * float((deviations**4).sum()) / total**2 - 3.0


def _trimmed_mean(values: Floats) -> float:
    count = len(values)
    cut = min(int(count / (2 * max(count - 4, 1) ** 0.5)), (count - 1) // 2)
    return float(np.sort(values)[cut : count - cut].mean())
