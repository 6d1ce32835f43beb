"""Keys that were never learnt: paths by code, of those what the value of a thread leaves.

Calls that no learnt path has are marked (`marked_calls`), so that the value of a thread says which
of them a path took, in which order, and how high the stack was there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

from steelyard.analysis.paths.path_marks import ANY_MARK, NO_MARK, Call, marked_once
from steelyard.analysis.paths.static_search import StaticPaths, StaticSearch

# A step that may come by a marked call or by an address doubles the marks of a path. Beyond so many
# a path may carry any.
_MOST_MARKS = 16
# Of a key so many paths are searched in the code. Where it allows more, nothing is said of the key:
# one that was not found could be the path.
MOST_PATHS = 300
# Marks of all keys together, beyond which no more keys are searched: some seconds.
_MOST_WORK = 300_000
# Of a search that did not end, which takes about as long as one that finds so many.
_LEAST_WORK = 4_000


@dataclass(frozen=True)
class FoundPaths:
    """The paths that are left.

    Parameters
    ----------
    chains : tuple of tuple of int
        Functions, outermost first; the best paths first, as `StaticSearch` has them.
    unlearnt : tuple of int
        For each path the steps that were never learnt; empty where nothing was learnt.
    are_all : bool
        Whether there are no others.
    is_too_high : bool
        The stack is higher than what can be searched.
    """

    chains: tuple[tuple[int, ...], ...]
    unlearnt: tuple[int, ...]
    are_all: bool
    is_too_high: bool = False

    @property
    def candidates(self) -> tuple[tuple[int, ...], ...]:
        """All the paths there can be by the code; none where some were not found."""
        return self.chains if self.are_all else ()


class UnlearntKeys:
    """Searches the code of a program for the paths of keys that were never learnt.

    Parameters
    ----------
    search : StaticSearch
    numbers : mapping of (int, int) to int
        Of the program's marked calls, by whole functions.
    by_address : collection of int
        Functions that may be called by an address too, past the mark of a call.
    of_any_height : collection of int
        Functions that code may reach at other heights than are searched, with no mark that says so:
        of their keys not all paths are known.
    varying : collection of int
        Functions whose frame varies. The code has their calls at learnt heights alone, so paths
        through them are not all.
    unmarked : StaticSearch, optional
        Searches the paths without marked calls alone; None: it finds out of all paths which have
        none.
    """

    def __init__(
        self,
        search: StaticSearch,
        numbers: Mapping[Call, int],
        by_address: Collection[int] = (),
        of_any_height: Collection[int] = (),
        varying: Collection[int] = (),
        unmarked: StaticSearch | None = None,
    ) -> None:
        self._search = search
        self._unmarked = unmarked or search
        self._numbers = numbers
        self._by_address = frozenset(by_address)
        self._of_any_height = frozenset(of_any_height)
        self._varying = frozenset(varying)
        self._known: dict[tuple[int, int, bool], tuple[StaticPaths, list[set[int]]]] = {}
        self._work = 0

    def of_mark(self, function: int, height_bytes: int, mark: int) -> FoundPaths:
        """The paths of a key; one of `ANY_MARK` says nothing of the value of its thread."""
        return self._left(
            function, height_bytes, lambda other: mark in (ANY_MARK, other), mark == NO_MARK
        )

    def that_carry(
        self, function: int, height_bytes: int, carries: Callable[[int], bool]
    ) -> FoundPaths:
        """The paths of a function and a height, of which the thread may carry the mark."""
        return self._left(function, height_bytes, carries, carries(NO_MARK))

    def _left(
        self,
        function: int,
        height_bytes: int,
        carries: Callable[[int], bool],
        is_unmarked: bool,
    ) -> FoundPaths:
        found, marks_of = self._paths(function, height_bytes, is_unmarked)
        steps: dict[tuple[int, ...], int] = {}
        for at, (chain, marks) in enumerate(zip(found.paths, marks_of, strict=True)):
            if len(marks) > _MOST_MARKS or any(map(carries, marks)):
                steps.setdefault(chain, found.unlearnt[at] if found.unlearnt else 0)
        unlearnt = tuple(steps.values()) if found.unlearnt else ()
        are_all = found.are_all and function not in self._of_any_height
        are_all = are_all and all(self._varying.isdisjoint(chain[:-1]) for chain in steps)
        return FoundPaths(tuple(steps), unlearnt, are_all, found.is_too_high)

    def _paths(
        self, function: int, height_bytes: int, is_unmarked: bool
    ) -> tuple[StaticPaths, list[set[int]]]:
        """The paths of a key, and the marks that each may have."""
        key = function, height_bytes, is_unmarked
        known = self._known.get(key)
        if known is not None:
            return known
        if self._work > _MOST_WORK:
            return StaticPaths(function, height_bytes, (), (), (), False), []
        search = self._unmarked if is_unmarked else self._search
        found = search.paths(function, height_bytes, MOST_PATHS)
        pairs = zip(found.paths, found.heights, strict=True)
        marks = [self._marks(chain, heights) for chain, heights in pairs]
        work = sum(map(len, found.paths)) + sum(map(len, marks))
        # A search may follow many ways and find few paths.
        self._work += work if found.are_all else max(work, _LEAST_WORK)
        self._known[key] = found, marks
        return found, marks

    def _marks(self, chain: tuple[int, ...], heights: tuple[int, ...]) -> set[int]:
        """The marks that the thread may carry on a path."""
        found = {NO_MARK}
        for call, height in zip(pairwise(chain), heights[1:], strict=True):
            number = self._numbers.get(call)
            if number is None:
                continue
            marked = {marked_once(mark, number, height) for mark in found}
            found = marked | found if call[1] in self._by_address else marked
            if len(found) > _MOST_MARKS:
                break
        return found
