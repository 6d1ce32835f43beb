"""Columns grouped by correlation, with complete linkage (Oliveira 2015, section 7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from steelyard.predict.arrays import Floats, Indices


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
        from scipy.cluster.hierarchy import fcluster

        size = len(self.correlations)
        if size < 2:
            return [np.arange(size)]
        cuts: Any = fcluster(cast(Any, self.merges), min(count, size), criterion="maxclust")
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
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    centred = values - values.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(norms > 0, norms, 1.0)
    correlations = np.clip(scaled.T @ scaled, -1, 1)
    np.fill_diagonal(correlations, 1.0)
    if values.shape[1] < 2:
        return Clustering(np.zeros((0, 4)), correlations)
    distances = squareform(1 - correlations, checks=False)
    merges = cast(Floats, np.asarray(linkage(distances, method="complete"), dtype=np.float64))
    return Clustering(merges, correlations)
