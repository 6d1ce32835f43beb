"""The repeated levels of measurements as layers, from the measurements up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.analysis.variance.nested_values import Floats, Integers, NestedValues


@dataclass(frozen=True)
class Layer:
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


def layers_of(data: NestedValues, repeated: list[int]) -> list[Layer]:
    """The layers of the levels at the depths `repeated` (0 is the highest), lowest first.

    Every other level must be repeated nowhere.
    """
    layers: list[Layer] = []
    size = np.ones(len(data.values))
    mean = mean_of_means = data.values
    square_sizes: tuple[Floats, ...] = ()
    places = [-1, *repeated]
    for place in range(len(repeated) - 1, -1, -1):
        # Between two repeated levels every unit has one child, so that indices carry over.
        parent = data.parents[repeated[place]]
        parent_count = len(data.parents[places[place]]) if place else 1
        layer = Layer(parent, parent_count, size, mean, mean_of_means, (*square_sizes, size**2))
        layers.append(layer)
        square_sizes = tuple(layer.gathered(squares) for squares in layer.square_sizes)
        size = layer.gathered(layer.size)
        mean = layer.gathered(layer.size * layer.mean) / size
        mean_of_means = layer.gathered(mean_of_means) / np.bincount(parent, minlength=parent_count)
    return layers
