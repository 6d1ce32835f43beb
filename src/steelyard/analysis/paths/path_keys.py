"""How many keys of a map have one path, as the heights of its nodes change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.path_order import Integers, PathOrder

# With more places for a key than this they are sorted, and not counted.
_MOST_PLACES_A_KEY = 8


@dataclass(frozen=True)
class KeyCounts:
    """Counts of keys.

    Parameters
    ----------
    different : int
    with_one_path : int
    """

    different: int
    with_one_path: int


class PathKeys:
    """The keys of a map's paths: numbers, equal where function and height are.

    Parameters
    ----------
    order : PathOrder
        With at least one node.
    limit_bytes : int
        No height that is asked about is above it.
    """

    def __init__(self, order: PathOrder, limit_bytes: int) -> None:
        # The same path at the same height is one, by whatever calls it came there.
        pairs = np.stack([order.paths, order.heights_bytes], axis=1)
        self._nodes = np.sort(np.unique(pairs, axis=0, return_index=True)[1])
        self._grain = int(np.gcd.reduce(order.heights_bytes, initial=16))
        heights = order.heights_bytes[self._nodes] // self._grain
        _, functions = np.unique(order.functions[self._nodes], return_inverse=True)
        lowest = np.full(int(functions.max()) + 1, limit_bytes // self._grain)
        np.minimum.at(lowest, functions, heights)
        ends = np.cumsum(limit_bytes // self._grain - lowest + 1)
        starts = np.concatenate([[0], ends[:-1]])
        self._bases: Integers = (starts - lowest)[functions]
        self._place_count = int(ends[-1])

    @property
    def most(self) -> int:
        """How many keys there are where each path has its own."""
        return len(self._nodes)

    def counts(self, heights_bytes: Integers) -> KeyCounts:
        """Count the keys where nodes have these heights."""
        keys = self._keys(heights_bytes)
        if self._place_count <= _MOST_PLACES_A_KEY * len(keys):
            paths = np.bincount(keys, minlength=self._place_count)
            return KeyCounts(int(np.count_nonzero(paths)), int(np.count_nonzero(paths == 1)))
        ends = _ends_of_runs(np.sort(keys))
        alone = int(np.count_nonzero(ends[1:] & ends[:-1]))
        return KeyCounts(int(np.count_nonzero(ends)) - 1, alone)

    def ambiguous(self, heights_bytes: Integers) -> tuple[Integers, Integers]:
        """The nodes whose key has other paths too, and a number for each key, which rises."""
        keys = self._keys(heights_bytes)
        by_key = np.argsort(keys, kind="stable")
        ends = _ends_of_runs(keys[by_key])
        shared = ~(ends[1:] & ends[:-1])
        return self._nodes[by_key[shared]], np.cumsum(ends[:-1], dtype=np.int64)[shared]

    def _keys(self, heights_bytes: Integers) -> Integers:
        is_all = len(self._nodes) == len(heights_bytes)
        heights = heights_bytes if is_all else heights_bytes[self._nodes]
        return self._bases + heights // self._grain


def _ends_of_runs(ordered: Integers) -> npt.NDArray[np.bool_]:
    """Where another number begins, and behind the last."""
    ends: npt.NDArray[np.bool_] = np.ones(len(ordered) + 1, dtype=np.bool_)
    ends[1:-1] = ordered[1:] != ordered[:-1]
    return ends
