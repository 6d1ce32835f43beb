"""Calls to mark, as few as are found, so that every learnt path has a key of its own.

A mark is a number that a thread carries: a marked call changes V to 3 V + c, with a c of its own,
and its return puts V back. V depends on the order of calls, as sums of sizes do not. The function
is that of M. D. Bond, K. S. McKinley, *Probabilistic Calling Context*, OOPSLA 2007, section 3.2;
that only calls are marked which paths need is T. Mytkowicz 2010, section 5.4.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode, PathNumbers
from steelyard.core.rng import derive_seed

Call = tuple[int, int]
_WORD = (1 << 64) - 1
# Beyond so many looks at a node no call is tried without its mark.
_MOST_WORK = 40_000_000


@dataclass(frozen=True)
class MarkedCalls:
    """Calls whose marks make keys of paths unique.

    Parameters
    ----------
    calls : tuple of Call
        Callers and callees.
    call_count : int
        Different calls of one function by another in the map.
    passed_share : float
        Part of the learnt entries that came by a marked call, from 0 to 1: each pays for one.
    exact_share : float
        Part of the paths, at each of their heights, that have a key of their own then.
    """

    calls: tuple[Call, ...]
    call_count: int
    passed_share: float
    exact_share: float


def marked_calls(path_map: PathMap, seed: int) -> MarkedCalls:
    """Find calls to mark.

    Parameters
    ----------
    path_map : PathMap
        With at least one path.
    seed : int
        Of the numbers of the calls.
    """
    return _Marking(path_map.nodes, seed).run()


class _Marking:
    def __init__(self, nodes: Sequence[PathNode], seed: int) -> None:
        self._nodes = nodes
        self._paths = PathNumbers().of(nodes)
        self._calls: list[Call] = [
            (ROOT if node.parent == ROOT else nodes[node.parent].function, node.function)
            for node in nodes
        ]
        self._passes: Counter[Call] = Counter()
        for call, node in zip(self._calls, nodes, strict=True):
            self._passes[call] += node.call_count
        draw = np.random.default_rng(derive_seed(seed, "marks"))
        drawn = draw.integers(1, 2**63, size=len(self._passes)).tolist()
        self._numbers = dict(zip(self._passes, drawn, strict=True))

    def run(self) -> MarkedCalls:
        marked: set[Call] = set()
        while groups := self._ambiguous(marked):
            before = len(marked)
            for group in groups:
                self._mark_apart(group[0], group[-1], marked)
            if len(marked) == before:
                break
        self._drop_needless(marked)
        left = sum(map(len, self._ambiguous(marked)))
        entries = {
            (path, node.height_bytes) for path, node in zip(self._paths, self._nodes, strict=True)
        }
        total = sum(self._passes.values())
        return MarkedCalls(
            calls=tuple(sorted(marked)),
            call_count=len(self._passes),
            passed_share=sum(self._passes[call] for call in marked) / total if total else 0.0,
            exact_share=1 - left / len(entries),
        )

    def _ambiguous(self, marked: Collection[Call]) -> list[list[int]]:
        """Nodes of different paths that have one key, a list each."""
        values: list[int] = []
        keys: list[tuple[int, int, int, int, int]] = []
        for index, node in enumerate(self._nodes):
            value = 0 if node.parent == ROOT else values[node.parent]
            call = self._calls[index]
            if call in marked:
                value = (3 * value + self._numbers[call]) & _WORD
            values.append(value)
            keys.append((node.function, node.height_bytes, value, self._paths[index], index))
        keys.sort()
        found: list[list[int]] = []
        for _, group in groupby(keys, key=lambda key: key[:3]):
            of_paths = {key[3]: key[4] for key in group}
            if len(of_paths) > 1:
                found.append(list(of_paths.values()))
        return found

    def _path(self, node: int) -> list[Call]:
        found: list[Call] = []
        while node != ROOT:
            found.append(self._calls[node])
            node = self._nodes[node].parent
        return found[::-1]

    def _mark_apart(self, first: int, second: int, marked: set[Call]) -> None:
        """Mark what tells two paths apart, unless something does."""
        one, other = self._path(first), self._path(second)
        if [call for call in one if call in marked] != [call for call in other if call in marked]:
            return
        counts, others = Counter(one), Counter(other)
        differing = [call for call in counts | others if counts[call] != others[call]]
        if differing:
            marked.add(min(differing, key=lambda call: (self._passes[call], call)))
            return
        # The same calls in another order: those where the order first differs.
        marked.update(next(pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]))

    def _drop_needless(self, marked: set[Call]) -> None:
        """Take marks away, the most passed first, while all paths stay apart."""
        if self._ambiguous(marked):
            return
        work = 0
        for call in sorted(marked, key=lambda call: (-self._passes[call], call)):
            work += len(self._nodes)
            if work > _MOST_WORK:
                return
            if not self._ambiguous(marked - {call}):
                marked.discard(call)
