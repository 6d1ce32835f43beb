"""Calls to mark, as few as are found, so that every learnt path has a key of its own.

What a marked call does is in `path_marks`. That only calls are marked which paths need is
T. Mytkowicz 2010, section 5.4.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from steelyard.analysis.paths.markable_calls import MarkableCalls
from steelyard.analysis.paths.marked_keys import MarkedKeys
from steelyard.analysis.paths.path_map import (
    ROOT,
    PathMap,
    PathNode,
    PathNumbers,
)
from steelyard.analysis.paths.path_marks import NO_MARK, marked_once
from steelyard.core.rng import derive_seed

Call = tuple[int, int]
# What the displacement of an instruction holds.
LARGEST_NUMBER = 2**31 - 1
# Beyond so many looks at a node no call is tried without its mark, or with others in its place.
_MOST_WORK, _MOST_EXCHANGES = 200_000_000, 40_000_000
# Of keys of several paths so many are looked at before all are counted again.
_MOST_GROUPS = 2000
_NOT_MARKABLE = -1
# So often calls that are not sure are looked at for what one of them tells apart alone.
_MOST_ROUNDS = 20


@dataclass(frozen=True)
class MarkedCalls:
    """Calls whose marks make keys of paths unique.

    Parameters
    ----------
    calls : tuple of Call
        Callers and callees of learnt paths.
    call_count : int
        Different calls of one function by another in the map.
    passed_share : float
        Part of the learnt entries that came by a marked call, from 0 to 1: each pays for one.
    exact_share : float
        Part of the paths, at each of their heights, that have a key of their own then.
    numbers : dict of Call to int
        What each marked call adds, also of calls that were not learnt.
    unlearnt_count : int
        Calls that no learnt path has, and that are marked too.
    """

    calls: tuple[Call, ...]
    call_count: int
    passed_share: float
    exact_share: float
    numbers: dict[Call, int] = field(default_factory=dict[Call, int])
    unlearnt_count: int = 0


def marked_calls(
    path_map: PathMap, seed: int, markable: Sequence[MarkableCalls] | None = None
) -> MarkedCalls:
    """Find calls to mark.

    Parameters
    ----------
    path_map : PathMap
        With at least one path.
    seed : int
        Of the numbers of the calls.
    markable : sequence of MarkableCalls, optional
        What can be marked; None: each call by itself.
    """
    return _Marking(path_map.nodes, seed, markable).run()


class _Marking:
    """Calls that are marked together have a number here, their place in the list of these."""

    def __init__(
        self, nodes: Sequence[PathNode], seed: int, markable: Sequence[MarkableCalls] | None
    ) -> None:
        self._nodes = nodes
        calls: list[Call] = [
            (ROOT if node.parent == ROOT else nodes[node.parent].function, node.function)
            for node in nodes
        ]
        counts: Counter[Call] = Counter()
        for call, node in zip(calls, nodes, strict=True):
            counts[call] += node.call_count
        if markable is None:
            # What no function of the program called is no call.
            alone = [call for call in counts if call[0] != ROOT]
            markable = [MarkableCalls((call,), (call,)) for call in alone]
        self._markable = markable
        self._call_count = len(counts)
        self._entry_count = counts.total()
        self._passes = [sum(map(counts.__getitem__, one.learnt)) for one in markable]
        place_of = {call: place for place, one in enumerate(markable) for call in one.learnt}
        self._places = [place_of.get(call, _NOT_MARKABLE) for call in calls]
        draw = np.random.default_rng(derive_seed(seed, "marks"))
        self._numbers: list[int] = draw.integers(1, LARGEST_NUMBER, size=len(markable)).tolist()
        self._keys = MarkedKeys(nodes, self._places, self._numbers)
        self._work = 0
        # Calls that another set of marks is tried without.
        self._banned: set[int] = set()
        # Calls that are not sure, and would tell some paths apart alone.
        self._refused: set[int] = set()

    def run(self) -> MarkedCalls:
        marked = self._sure_marks()
        self._add_unsure(marked)
        left = self._keys.shared_count(marked)
        paths = PathNumbers().of(self._nodes)
        entries = {(path, node.height_bytes) for path, node in zip(paths, self._nodes, strict=True)}
        passes = self._price(marked)
        return MarkedCalls(
            calls=tuple(sorted(call for place in marked for call in self._markable[place].learnt)),
            call_count=self._call_count,
            passed_share=passes / self._entry_count if self._entry_count else 0.0,
            exact_share=1 - left / len(entries),
            numbers=self._numbers_of(marked),
        )

    def _sure_marks(self) -> set[int]:
        marked: set[int] = set()
        self._add_sure(marked)
        self._drop_needless(marked)
        return self._cheaper(marked)

    def _add_sure(self, marked: set[int]) -> None:
        while groups := self._keys.groups(marked, _MOST_GROUPS):
            before = len(marked)
            self._work += len(self._nodes)
            for group in groups:
                self._mark_apart(group[0], group[-1], marked)
            if len(marked) == before:
                groups = self._keys.groups(marked, len(self._nodes))
                self._mark_each_apart(groups, marked)
            if len(marked) == before:
                break

    def _cheaper(self, marked: set[int]) -> set[int]:
        """Other calls in the place of those that are passed most, where they are passed less."""
        least = self._shared_count(marked)
        self._work = 0
        for place in sorted(marked, key=lambda place: (-self._passes[place], place)):
            if self._work > _MOST_EXCHANGES or place not in marked or not self._passes[place]:
                continue
            others = marked - {place}
            self._banned = {place}
            self._add_sure(others)
            if self._shared_count(others) <= least:
                self._drop_needless(others)
                if self._price(others) < self._price(marked):
                    marked = others
        self._banned = set()
        return marked

    def _price(self, marked: Collection[int]) -> int:
        return sum(self._passes[place] for place in marked)

    def _add_unsure(self, marked: set[int]) -> None:
        """Mark calls that are not sure, so that two of them tell paths apart where these do.

        A path that came without one of its marks is no other path then: it has no key.
        """
        kept = frozenset(marked)
        while self._add_pairs(self._keys.groups(marked, _MOST_GROUPS), marked):
            pass
        for _ in range(_MOST_ROUNDS):
            least = self._keys.shared_count(marked)
            alone = [
                place
                for place in sorted(marked - kept)
                if self._keys.shared_count(marked - {place}) > least
            ]
            if not alone:
                return
            for place in alone:
                if not self._add_others(place, marked):
                    marked.discard(place)
                    self._refused.add(place)
        marked.intersection_update(kept)

    def _add_others(self, place: int, marked: set[int]) -> bool:
        """Mark another call of each two paths that a call tells apart alone; whether all have one.

        Only then are any marked.
        """
        added: set[int] = set()
        for group in self._keys.groups(marked - {place}, _MOST_GROUPS):
            for first, second in pairwise(group):
                one, other = self._unsure_on(first), self._unsure_on(second)
                if (place in one) == (place in other):
                    continue
                differing = (set(one) ^ set(other)) - marked - self._refused
                if differing:
                    added.add(min(differing, key=lambda one: (self._passes[one], one)))
                elif not added & (set(one) ^ set(other)):
                    return False
        marked |= added
        return True

    def _add_pairs(self, groups: Sequence[Sequence[int]], marked: set[int]) -> bool:
        """Mark two calls that are not sure for each two neighbours in groups; whether any was."""
        before = len(marked)
        for group in groups:
            for first, second in pairwise(group):
                counts, others = (Counter(self._unsure_on(node)) for node in (first, second))
                differing = [
                    place
                    for place in counts | others
                    if counts[place] != others[place] and place not in self._refused
                ]
                if len(differing) > 1:
                    differing.sort(key=lambda place: (self._passes[place], place))
                    marked.update(differing[:2])
        return len(marked) > before

    def _numbers_of(self, marked: Collection[int]) -> dict[Call, int]:
        return {
            call: self._numbers[place]
            for place in sorted(marked)
            for call in self._markable[place].calls
        }

    def _unsure_on(self, node: int) -> list[int]:
        return [place for place in self._places_on(node) if not self._markable[place].is_sure]

    def _places_on(self, node: int) -> list[int]:
        return [place for place, _ in self._steps_to(node)]

    def _steps_to(self, node: int) -> list[tuple[int, int]]:
        """What can be marked on the path to a node, outermost first, and how high each is."""
        found: list[tuple[int, int]] = []
        while node != ROOT:
            if self._places[node] != _NOT_MARKABLE:
                found.append((self._places[node], self._nodes[node].height_bytes))
            node = self._nodes[node].parent
        return found[::-1]

    def _mark_each_apart(self, groups: Sequence[Sequence[int]], marked: set[int]) -> None:
        """Mark what tells neighbours in groups apart, where the ends of a group cannot be."""
        for group in groups:
            for first, second in pairwise(group):
                self._mark_apart(first, second, marked)

    def _mark_apart(self, first: int, second: int, marked: set[int]) -> None:
        """Mark what tells two paths apart, unless something does, or nothing can."""
        if self._mark(first, marked) != self._mark(second, marked):
            return
        counts, others = (self._sure_steps(node) for node in (first, second))
        # A call at another height makes another value, however often it is on the paths.
        differing = {
            place
            for place, height in counts | others
            if counts[place, height] != others[place, height] and place not in marked | self._banned
        }
        for place in sorted(differing, key=lambda place: (self._passes[place], place)):
            if self._mark(first, {*marked, place}) != self._mark(second, {*marked, place}):
                marked.add(place)
                return

    def _mark(self, node: int, marked: Collection[int]) -> int:
        """The mark of the path to a node."""
        found = NO_MARK
        for place, height in self._steps_to(node):
            if place in marked:
                found = marked_once(found, self._numbers[place], height)
        return found

    def _sure_steps(self, node: int) -> Counter[tuple[int, int]]:
        return Counter(step for step in self._steps_to(node) if self._markable[step[0]].is_sure)

    def _drop_needless(self, marked: set[int]) -> None:
        """Take marks away, the most passed first, while no more paths have a key with others."""
        least, most = self._shared_count(marked), self._work + _MOST_WORK
        for place in sorted(marked, key=lambda place: (-self._passes[place], place)):
            if self._work > most:
                return
            if self._shared_count(marked - {place}) <= least:
                marked.discard(place)

    def _shared_count(self, marked: Collection[int]) -> int:
        self._work += len(self._nodes)
        return self._keys.shared_count(marked)
