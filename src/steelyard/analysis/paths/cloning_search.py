"""A search for functions to clone: which caller's calls go to a copy of a function.

Greedy: the copy is made that resolves most paths a byte, of those that the limit of bytes has room
for. Two callers whose paths of a function have different heights share a copy. A copy has a frame
of its own, which may grow, so that it tells apart what it calls, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from steelyard.analysis.paths.clones import Clone, Clones
from steelyard.analysis.paths.path_map import NO_HEIGHT, ROOT, PathMap
from steelyard.analysis.paths.path_order import Integers, path_order
from steelyard.analysis.paths.separation_search import GOAL, GRAIN_BYTES
from steelyard.analysis.paths.wrappable_calls import Call

# Sizes that are tried for the frame of a copy, in grains.
_GROWTHS = (0, 1, 2, 3, 5, 7, 11)
# Copies that are looked at wholly before one is made, the most promising first.
_LOOKS = 12
# Nodes that are looked at in all: less than a minute on a machine of 2020.
_MOST_WORK = 600_000_000


@dataclass(frozen=True)
class CloningRules:
    """What can be cloned, and what it may cost.

    Parameters
    ----------
    calls : collection of Call
        Callers and callees whose calls can go to a copy.
    sizes : mapping of int to int
        Bytes of a copy of each function that can be cloned, a multiple of 16.
    most_bytes : int
        Of all copies.
    address : int
        Where the first copy begins.
    limit_bytes : int
        No path becomes higher, unless one was already.
    frame_bytes : mapping of int to int
        By how much the frames of functions have grown.
    most_frame_bytes : mapping of int to int
        By how much they can grow.
    goal : float
        Share of keys with one path at which the search ends.
    """

    calls: Collection[Call]
    sizes: Mapping[int, int]
    most_bytes: int
    address: int
    limit_bytes: int
    frame_bytes: Mapping[int, int] = field(default_factory=dict[int, int])
    most_frame_bytes: Mapping[int, int] = field(default_factory=dict[int, int])
    goal: float = GOAL


@dataclass(frozen=True)
class CloneChoice:
    """What the search found.

    Parameters
    ----------
    clones : Clones
    byte_count : int
        Of all copies.
    frame_bytes : dict of int to int
        By how much the frames of functions and clones grow.
    before_count, after_count, path_count : int
        Paths with a key of their own, at each of their heights, and all of them.
    """

    clones: Clones
    byte_count: int
    frame_bytes: dict[int, int]
    before_count: int
    after_count: int
    path_count: int


@dataclass(frozen=True)
class _Move:
    """The calls of a caller go to another copy; `target` 0: to a new one."""

    caller: int
    callee: int
    target: int
    byte_count: int
    most_gain: int


def chosen_clones(path_map: PathMap, rules: CloningRules) -> CloneChoice:
    """Choose functions to clone.

    Parameters
    ----------
    path_map : PathMap
        With at least one path, at the heights that it has with `rules.frame_bytes`.
    rules : CloningRules
    """
    return _Search(path_map, rules).run()


class _Search:
    def __init__(self, path_map: PathMap, rules: CloningRules) -> None:
        order = path_order(path_map.nodes)
        self._rules = rules
        self._parents, self._ends = order.parents, order.ends
        self._heights = order.heights_bytes.copy()
        self._labels = order.functions.copy()
        self._limit = max(rules.limit_bytes, int(self._heights.max()))
        # The same path at the same height is one; what is on another stack has no key.
        pairs = np.stack([order.paths, order.heights_bytes], axis=1)
        first = np.unique(pairs, axis=0, return_index=True)[1]
        self._keyed = np.zeros(len(self._labels), bool)
        self._keyed[first] = True
        self._keyed &= self._heights != NO_HEIGHT
        self._originals: dict[int, int] = {}
        self._targets: dict[Call, int] = {}
        self._frames = dict(rules.frame_bytes)
        self._bytes = 0
        self._work = 0

    def run(self) -> CloneChoice:
        before = after = self._resolved(self._labels, self._heights)
        total = int(np.count_nonzero(self._keyed))
        goal = int(np.ceil(self._rules.goal * total))
        while after < goal and self._work < _MOST_WORK:
            found = self._best(after)
            if found is None:
                break
            after = found
        clones = tuple(Clone(at, self._originals[at]) for at in sorted(self._originals))
        return CloneChoice(
            Clones(clones, self._targets), self._bytes, self._frames, before, after, total
        )

    def _best(self, before: int) -> int | None:
        """Make the move that resolves most a byte; how many paths are resolved then."""
        moves = sorted(self._moves(), key=lambda move: (-_worth(move.most_gain, move), move.caller))
        best: tuple[float, _Move, int, int] | None = None
        for looks, move in enumerate(moves):
            is_best = best is not None and best[0] >= _worth(move.most_gain, move)
            if is_best or (best is not None and looks >= _LOOKS) or self._work >= _MOST_WORK:
                break
            growth, after = self._tried(move)
            worth = _worth(after - before, move)
            if after > before and (best is None or worth > best[0]):
                best = worth, move, growth, after
        if best is None:
            return None
        self._make(best[1], best[2])
        return best[3]

    def _moves(self) -> list[_Move]:
        callers = np.where(self._parents == ROOT, ROOT, self._labels[self._parents])
        self._work += len(callers)
        gains, below = self._gains(callers)
        found: list[_Move] = []
        for (caller, callee), gain in gains.items():
            if not self._may_move(caller, callee):
                continue
            original = self._original(callee)
            size = self._rules.sizes[original]
            if self._bytes + size <= self._rules.most_bytes:
                most = gain + (below[caller, callee] if self._can_grow(original) else 0)
                if most > 0:
                    found.append(_Move(caller, callee, 0, size, most))
            for other in self._alike(callee):
                if (caller, other) not in gains and gain > 0:
                    found.append(_Move(caller, callee, other, 0, gain))
        return found

    def _gains(self, callers: Integers) -> tuple[dict[Call, int], dict[Call, int]]:
        """For each call what a copy of its own would resolve of its callee's paths, and how many
        paths below are not resolved."""
        keyed = np.flatnonzero(self._keyed)
        rows = np.stack([self._labels, self._heights, callers], axis=1)[keyed]
        _, key, keys = np.unique(rows[:, :2], axis=0, return_inverse=True, return_counts=True)
        _, one, own, counts = np.unique(
            rows, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        all_of_key = keys[key.ravel()[one]]
        gained = (counts == 1).astype(np.int64) + (all_of_key - counts == 1) - (all_of_key == 1)
        shared = np.zeros(len(self._labels) + 1, np.int64)
        shared[keyed + 1] = keys[key.ravel()] > 1
        sums = np.cumsum(shared)
        open_below = sums[self._ends[keyed]] - sums[keyed + 1]
        gains: dict[Call, int] = {}
        below: dict[Call, int] = {}
        lowest = np.zeros(len(counts), np.int64)
        np.add.at(lowest, own.ravel(), open_below)
        for row, gain, left in zip(
            rows[one].tolist(), gained.tolist(), lowest.tolist(), strict=True
        ):
            call = row[2], row[0]
            gains[call] = gains.get(call, 0) + gain
            below[call] = below.get(call, 0) + left
        return gains, below

    def _may_move(self, caller: int, callee: int) -> bool:
        call = self._original(caller), self._original(callee)
        # A copy that a function calls itself would be another one at each level.
        return caller not in (ROOT, callee) and call in self._rules.calls

    def _alike(self, callee: int) -> list[int]:
        """Copies of the same function that call the same ones, from the same frame."""
        original = self._original(callee)
        own = self._calls_of(callee)
        family = [original, *(at for at, one in self._originals.items() if one == original)]
        return [
            other
            for other in family
            if other != callee
            and self._frames.get(other, 0) == self._frames.get(callee, 0)
            and self._calls_of(other) == own
        ]

    def _calls_of(self, function: int) -> dict[int, int]:
        return {callee: to for (caller, callee), to in self._targets.items() if caller == function}

    def _original(self, function: int) -> int:
        return self._originals.get(function, function)

    def _can_grow(self, original: int) -> bool:
        grown = self._frames.get(original, 0)
        return self._rules.most_frame_bytes.get(original, 0) >= grown + GRAIN_BYTES

    def _tried(self, move: _Move) -> tuple[int, int]:
        """The best growth of the copy's frame, and how many paths are resolved with it."""
        moved = self._nodes_of(move)
        labels = self._labels.copy()
        labels[moved] = move.target or self._next_address()
        best = 0, self._resolved(labels, self._heights)
        if move.target:
            return best
        room = self._rules.most_frame_bytes.get(self._original(move.callee), 0)
        room -= self._frames.get(move.callee, 0)
        above = self._above(moved)
        for grains in _GROWTHS[1:]:
            growth = grains * GRAIN_BYTES
            heights = self._heights + growth * above
            if growth > room or int(heights.max()) > self._limit:
                break
            found = self._resolved(labels, heights)
            if found > best[1]:
                best = growth, found
        return best

    def _nodes_of(self, move: _Move) -> Integers:
        callers = np.where(self._parents == ROOT, ROOT, self._labels[self._parents])
        return np.flatnonzero((callers == move.caller) & (self._labels == move.callee))

    def _above(self, nodes: Integers) -> Integers:
        """How often one of some nodes is on the way to each other."""
        steps = np.zeros(len(self._labels) + 1, np.int64)
        np.add.at(steps, nodes + 1, 1)
        np.subtract.at(steps, self._ends[nodes], 1)
        found = np.cumsum(steps[:-1])
        # What is on another stack does not become higher there.
        return np.where(self._heights == NO_HEIGHT, 0, found)

    def _resolved(self, labels: Integers, heights: Integers) -> int:
        self._work += len(labels)
        keys = np.stack([labels, heights], axis=1)[self._keyed]
        keys = keys[np.lexsort((keys[:, 1], keys[:, 0]))]
        differ = np.ones(len(keys) + 1, bool)
        differ[1:-1] = (keys[1:] != keys[:-1]).any(axis=1)
        return int(np.count_nonzero(differ[1:] & differ[:-1]))

    def _next_address(self) -> int:
        return self._rules.address + self._bytes

    def _make(self, move: _Move, growth: int) -> None:
        moved = self._nodes_of(move)
        original = self._original(move.callee)
        target = move.target
        if not target:
            target = self._next_address()
            self._originals[target] = original
            self._bytes += move.byte_count
            grown = self._frames.get(move.callee, 0) + growth
            if grown:
                self._frames[target] = grown
            for callee, to in self._calls_of(move.callee).items():
                self._targets[target, callee] = to
            self._heights += growth * self._above(moved)
        self._labels[moved] = target
        if target == original:
            del self._targets[move.caller, original]
        else:
            self._targets[move.caller, original] = target


def _worth(gain: int, move: _Move) -> float:
    """Paths a byte; what costs nothing comes first."""
    return gain / max(move.byte_count, 1e-3)
