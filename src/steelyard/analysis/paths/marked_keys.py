"""Keys of paths with marks, as arrays: for maps of many paths, of which many sets are tried."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.path_map import NO_HEIGHT, ROOT, PathNode, PathNumbers

Integers = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint64]
# Odd numbers by which words are mixed (D. Knuth, *The Art of Computer Programming*, 6.4).
_GOLDEN, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT, _FACTOR = np.uint64(29), np.uint64(3)


class MarkedKeys:
    """The keys of a map's paths where some calls are marked.

    A key is one word here, mixed of its function, height and mark (`path_marks.node_marks`).

    Parameters
    ----------
    nodes : sequence of PathNode
        Parents before children.
    places : sequence of int
        For each node which of the calls that can be marked led to it; -1: none.
    numbers : sequence of int
        What each of these adds.
    """

    def __init__(
        self, nodes: Sequence[PathNode], places: Sequence[int], numbers: Sequence[int]
    ) -> None:
        table = np.array([node[:3] for node in nodes], dtype=np.int64).reshape(-1, 3)
        self._parents, functions, heights = table[:, 0], table[:, 1], table[:, 2]
        self._places = np.array(places, dtype=np.int64)
        # One more for what cannot be marked, at -1.
        self._added = np.array([*numbers, 0], dtype=np.uint64)[self._places]
        self._added -= heights.astype(np.uint64)
        self._numbers = len(numbers)
        self._paths = np.array(PathNumbers().of(nodes), dtype=np.int64)
        self._levels = _levels(self._parents)
        self._fixed = _mixed(functions.astype(np.uint64) * _OTHER + heights.astype(np.uint64))
        self._keyed = np.flatnonzero(heights != NO_HEIGHT)

    def groups(self, marked: Collection[int], most: int) -> list[list[int]]:
        """Nodes of different paths that have one key, a list each; at most so many lists."""
        nodes, ends = self._shared(marked)
        starts = np.flatnonzero(np.concatenate([[True], ends[:-1]])) if len(nodes) else nodes
        chosen = starts[:: max(1, -(-len(starts) // most))].tolist()
        behind = np.flatnonzero(ends)
        return [
            nodes[start : int(behind[np.searchsorted(behind, start)]) + 1].tolist()
            for start in chosen
        ]

    def shared_count(self, marked: Collection[int]) -> int:
        """How many paths, at each of their heights, share their key with others."""
        return len(self._shared(marked)[0])

    def _shared(self, marked: Collection[int]) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """A node of each path that shares its key, by keys, and whether it is the key's last."""
        keys = self._keys(marked)[self._keyed]
        paths = self._paths[self._keyed]
        order = np.lexsort((paths, keys))
        keys, paths = keys[order], paths[order]
        is_new = np.ones(len(keys), dtype=bool)
        is_new[1:] = (keys[1:] != keys[:-1]) | (paths[1:] != paths[:-1])
        keys, nodes = keys[is_new], self._keyed[order[is_new]]
        ends = np.ones(len(keys) + 1, dtype=bool)
        ends[1:-1] = keys[1:] != keys[:-1]
        is_shared = ~(ends[1:] & ends[:-1])
        return nodes[is_shared], ends[1:][is_shared]

    def _keys(self, marked: Collection[int]) -> _Words:
        is_marked = np.zeros(self._numbers + 1, dtype=bool)
        is_marked[list(marked)] = True
        passes = is_marked[self._places]
        values = np.zeros(len(self._places), dtype=np.uint64)
        counts = np.zeros(len(self._places), dtype=np.uint64)
        for level in self._levels:
            parents = self._parents[level]
            above, here = values[parents], passes[level]
            values[level] = np.where(here, above * _FACTOR + self._added[level], above)
            counts[level] = counts[parents] + here
        return _mixed(self._fixed ^ _mixed(values * _GOLDEN + counts))


def _levels(parents: Integers) -> list[Integers]:
    """The nodes that were called by others, by how far they are from the start of a thread."""
    depths = [0] * len(parents)
    for node, parent in enumerate(parents.tolist()):
        if parent != ROOT:
            depths[node] = depths[parent] + 1
    by_depth = np.array(depths, dtype=np.int64)
    order = np.argsort(by_depth, kind="stable")
    firsts = np.arange(1, max(depths, default=0) + 2, dtype=np.int64)
    places = np.searchsorted(by_depth[order], firsts)
    return [order[start:end] for start, end in pairwise(places.tolist())]


def _mixed(words: _Words) -> _Words:
    words = words * _GOLDEN
    words ^= words >> _SHIFT
    return words * _OTHER
