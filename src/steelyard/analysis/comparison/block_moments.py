"""Moments of the values of several variants, block after block."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from steelyard.analysis.intervals.fieller import MeanPair


class BlockMoments:
    """Means and sums of products of deviations of several variables, one block at a time.

    Welford's updates, Technometrics 4 (1962) 419.
    """

    def __init__(self, size: int) -> None:
        self.count = 0
        self.means = [0.0] * size
        self.products = [[0.0] * size for _ in range(size)]

    def add(self, values: Sequence[float]) -> None:
        """Takes one value of each variable."""
        self.count += 1
        before = [value - mean for value, mean in zip(values, self.means, strict=True)]
        for i, difference in enumerate(before):
            self.means[i] += difference / self.count
        shrink = (self.count - 1) / self.count
        for i, first in enumerate(before):
            row = self.products[i]
            for j, second in enumerate(before):
                row[j] += shrink * first * second

    def mean_pair(self, baseline: int, candidate: int) -> MeanPair:
        """The means of two variables, with the variances of the means. At least 2 blocks."""
        below = self.count * (self.count - 1)
        return MeanPair(
            self.means[baseline],
            self.means[candidate],
            self.products[baseline][baseline] / below,
            self.products[baseline][candidate] / below,
            self.products[candidate][candidate] / below,
        )


def contrast_correlations(moments: BlockMoments, variant_count: int) -> list[list[float]] | None:
    """Correlations of the contrasts ``y_j - r_j x``; None where they cannot be had."""
    x = moments.means[0]
    if moments.count < 4 or x == 0.0:
        return None
    products = moments.products
    ratios = [mean / x for mean in moments.means]
    candidates = range(1, variant_count)
    table = [
        [
            products[j][k]
            - ratios[k] * products[j][0]
            - ratios[j] * products[0][k]
            + ratios[j] * ratios[k] * products[0][0]
            for k in candidates
        ]
        for j in candidates
    ]
    if any(table[j][j] <= 0.0 for j in range(len(table))):
        return None
    return [
        [table[j][k] / sqrt(table[j][j] * table[k][k]) for k in range(len(table))]
        for j in range(len(table))
    ]
