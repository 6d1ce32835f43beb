"""The nodes of a path map in an order in which all that is called by a node follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.path_map import ROOT, PathNode, PathNumbers

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PathOrder:
    """Columns of nodes, each behind its parent and before what its callees' callees call.

    Parameters
    ----------
    places : array of int
        Where each node of the map went.
    parents : array of int
        `ROOT`, or an earlier place.
    ends : array of int
        Behind the last node below each.
    functions, heights_bytes, paths : array of int
        Addresses, heights, and numbers that are equal where paths have the same functions.
    """

    places: Integers
    parents: Integers
    ends: Integers
    functions: Integers
    heights_bytes: Integers
    paths: Integers

    @property
    def callers(self) -> Integers:
        """The function that called each; `ROOT` where there is none."""
        return np.where(self.parents == ROOT, ROOT, self.functions[self.parents])


def path_order(nodes: Sequence[PathNode]) -> PathOrder:
    """Order the nodes of a map."""
    sizes = [1] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        if nodes[index].parent != ROOT:
            sizes[nodes[index].parent] += sizes[index]
    next_free = 0
    free_below = [0] * len(nodes)
    places = [0] * len(nodes)
    for index, node in enumerate(nodes):
        if node.parent == ROOT:
            places[index] = next_free
            next_free += sizes[index]
        else:
            places[index] = free_below[node.parent]
            free_below[node.parent] += sizes[index]
        free_below[index] = places[index] + 1
    by_node = np.array(places, dtype=np.int64)
    by_place = np.argsort(by_node)
    table = np.array([node[:3] for node in nodes], dtype=np.int64).reshape(-1, 3)[by_place]
    parents = np.where(table[:, 0] == ROOT, ROOT, by_node[table[:, 0]])
    return PathOrder(
        places=by_node,
        parents=parents,
        ends=np.arange(len(nodes)) + np.array(sizes, dtype=np.int64)[by_place],
        functions=table[:, 1],
        heights_bytes=table[:, 2],
        paths=np.array(PathNumbers().of(nodes), dtype=np.int64)[by_place],
    )
