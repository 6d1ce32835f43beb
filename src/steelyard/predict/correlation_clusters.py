"""Columns grouped by correlation, with complete linkage (Oliveira 2015, section 7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster import hierarchy as _untyped  # pyright: ignore[reportMissingTypeStubs]

from steelyard.predict.arrays import Floats, Indices

_hierarchy: Any = _untyped


@dataclass(frozen=True)
class Clustering:
    """A tree of columns.

    Parameters
    ----------
    merges : array, shape (b - 1, 4)
        Each merge: the two nodes, the height 1 - correlation of their most unlike columns, and
        how many columns lie below. As scipy's ``linkage``.
    correlations : array, shape (b, b)
    """

    merges: Floats
    correlations: Floats

    def cut(self, count: int) -> list[Indices]:
        """The columns in `count` clusters (or in fewer, where there are fewer columns)."""
        size = len(self.correlations)
        if size < 2:
            return [np.arange(size)]
        cuts = _hierarchy.fcluster(self.merges, min(count, size), criterion="maxclust")
        return [np.flatnonzero(cuts == label) for label in np.unique(cuts)]

    def representatives(self, count: int) -> tuple[int, ...]:
        """One column of each cluster: the one most correlated with the others in it."""
        chosen: list[int] = []
        for members in self.cut(count):
            likeness = self.correlations[np.ix_(members, members)].sum(axis=1)
            chosen.append(int(members[likeness.argmax()]))
        return tuple(sorted(chosen))


def cluster_columns(values: Floats) -> Clustering:
    """Cluster the columns of a table without gaps, shape (h, b), by Pearson's correlation.

    A column that does not vary correlates with none.
    """
    centred = values - values.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(norms > 0, norms, 1.0)
    correlations = np.clip(scaled.T @ scaled, -1, 1)
    np.fill_diagonal(correlations, 1.0)
    if values.shape[1] < 2:
        return Clustering(np.zeros((0, 4)), correlations)
    upper = np.triu_indices(len(correlations), 1)
    merges: Floats = _hierarchy.linkage(1 - correlations[upper], method="complete")
    return Clustering(merges, correlations)


@dataclass(frozen=True)
class Tree:
    """A dendrogram, ready to draw.

    Parameters
    ----------
    leaves : tuple of int
        Columns from top to bottom.
    forks : tuple of (float, float, float, float, float)
        For each merge: the heights of its two branches, its own height, and the two places
        between leaves, counted from 0, where the branches stand.
    """

    leaves: tuple[int, ...]
    forks: tuple[tuple[float, float, float, float, float], ...]


def lay_out_tree(merges: Floats) -> Tree:
    """Where each merge of `Clustering.merges` stands (Oliveira 2015, figure 7.5)."""
    count = len(merges) + 1
    members: list[list[int]] = [[leaf] for leaf in range(count)]
    for first, second, _, _ in merges.tolist():
        members.append([*members[int(first)], *members[int(second)]])
    leaves = members[-1]
    place = {leaf: float(row) for row, leaf in enumerate(leaves)}
    height = [0.0] * count
    forks: list[tuple[float, float, float, float, float]] = []
    for node, (first, second, top, _) in enumerate(merges.tolist(), start=count):
        a, b = int(first), int(second)
        forks.append((height[a], height[b], top, place[a], place[b]))
        place[node] = (place[a] + place[b]) / 2
        height.append(top)
    return Tree(tuple(leaves), tuple(forks))
