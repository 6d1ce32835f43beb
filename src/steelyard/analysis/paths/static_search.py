"""Call paths that the code of a program allows for a key, a function and a height of the stack.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.3.1: a search
backward from the key, pruned by heights and by shortest paths. Here the least number of functions
below each function at each height is found first, once for all keys, so that the search never
follows what leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.call_graph import (
    LIBRARY,
    POINTER,
    Beginning,
    CallGraph,
    LearntSteps,
    Transfer,
)
from steelyard.analysis.paths.pointer_places import PointerPlaces
from steelyard.analysis.paths.search_ways import Way, common_grain, sorted_ways
from steelyard.analysis.paths.shared_stops import SharedStops, Stop

# A price of a path that none has.
_NONE = 1 << 30
# Cells of the table of heights and functions, of four bytes.
MOST_CELLS = 1 << 26
MOST_STEPS = 50_000
# Places whose steps are kept, of a kilobyte or two each.
_MOST_KNOWN = 20_000
# A path with fewer steps that were never learnt is better than any shorter one.
_PRICE_OF_FUNCTION, _PRICE_OF_UNLEARNT = 1, 10_000


_Step = tuple[int, int, int, int, int]


class _Waiting(NamedTuple):
    """The end of paths that is not continued yet."""

    least: int
    number: int
    spent: int
    place: int
    level: int
    path: int


@dataclass(frozen=True)
class StaticPaths:
    """The paths that code allows for a key.

    Parameters
    ----------
    function, height_bytes : int
        The key.
    paths : tuple of tuple of int
        Functions, outermost first. Paths with the fewest steps that were never learnt come first,
        the shorter ones of them before others. One path may be there at several heights of its
        functions.
    unlearnt : tuple of int
        For each path the steps that were never learnt; empty where nothing was learnt.
    heights : tuple of tuple of int
        For each path the heights of its functions, in bytes.
    are_all : bool
        Whether there are no others.
    is_too_high : bool
        The table of heights would take too much memory, so that nothing was searched.
    """

    function: int
    height_bytes: int
    paths: tuple[tuple[int, ...], ...]
    unlearnt: tuple[int, ...]
    heights: tuple[tuple[int, ...], ...]
    are_all: bool
    is_too_high: bool = False


class StaticSearch:
    """Searches the paths of keys.

    Parameters
    ----------
    graph : CallGraph
    beginnings : iterable of Beginning
    learnt : LearntSteps, optional
        Steps of learnt paths, of which some are not seen in the code.
    """

    def __init__(
        self, graph: CallGraph, beginnings: Iterable[Beginning], learnt: LearntSteps | None = None
    ) -> None:
        self._graph = graph
        self._place_of = {function: place for place, function in enumerate(graph.functions)}
        self._function_of = list(graph.functions)
        self._pointers = PointerPlaces(graph, len(self._function_of))
        self._count = len(self._function_of) + self._pointers.count
        self._has_learnt = learnt is not None
        known = self._ways_of(graph, learnt)
        begins = {one for one in beginnings if one.function in self._place_of}
        self._grain = common_grain(known, begins)
        self._begins: dict[int, set[int]] = {}
        for one in begins:
            level = one.height_bytes // self._grain
            self._begins.setdefault(level, set()).add(self._place_of[one.function])
        self._ways = sorted_ways(known, self._grain)
        self._into = np.searchsorted(self._ways.targets, np.arange(self._count + 1))
        self._upward = self._ways.group(self._ways.levels > 0)
        self._level = self._ways.group(self._ways.levels == 0)
        self._margin = int(self._upward.levels.max(initial=0))
        self._rows = np.full((self._margin, self._count), _NONE, np.int32)
        self._steps: dict[tuple[int, int], list[_Step]] = {}
        self._steps_most = 0

    def _ways_of(self, graph: CallGraph, learnt: LearntSteps | None) -> set[Way]:
        places = self._place_of
        unlearnt = 0 if learnt is None else _PRICE_OF_UNLEARNT
        found = {Way(source, target, 0, 0, False) for source, target in self._pointers.ways(places)}
        transfers = [(one, unlearnt) for one in graph.transfers]
        transfers += [(one, 0) for one in (() if learnt is None else learnt.transfers)]
        for one, price in transfers:
            height, source = one.height_bytes, places.get(one.caller)
            if source is None or height is None or height < 0:
                continue
            for target in self._targets(one):
                # A jump with its frame still in place leaves that on the stack.
                if height > 0:
                    found.add(Way(source, target, height, price + _PRICE_OF_FUNCTION, True))
                elif one.is_jump:
                    found.add(Way(source, target, 0, 0, False))
        return found

    def _targets(self, one: Transfer) -> tuple[int, ...]:
        if one.kind == POINTER:
            return self._pointers.of(one)
        place = None if one.callee is None else self._place_of.get(one.callee)
        return () if one.kind == LIBRARY or place is None else (place,)

    def paths(self, function: int, height_bytes: int, limit: int) -> StaticPaths:
        """The paths of a key, at most so many."""
        place = self._place_of.get(self._graph.whole(function))
        level, rest = divmod(height_bytes, self._grain)
        if place is None or rest or level < 0:
            return StaticPaths(function, height_bytes, (), (), (), True)
        if not self._reaches(level):
            return StaticPaths(function, height_bytes, (), (), (), False, is_too_high=True)
        found, are_all = self._backward(place, level, limit)
        paths = tuple(tuple(self._function_of[one] for one, _ in path) for path in found)
        unlearnt = tuple(price // _PRICE_OF_UNLEARNT for price in found.values())
        heights = tuple(tuple(self._grain * each for _, each in path) for path in found)
        return StaticPaths(
            function, height_bytes, paths, unlearnt if self._has_learnt else (), heights, are_all
        )

    def can_reach(self, function: int, height_bytes: int) -> bool:
        """Whether a key has a path."""
        place = self._place_of.get(self._graph.whole(function))
        level, rest = divmod(height_bytes, self._grain)
        if place is None or rest or level < 0 or not self._reaches(level):
            return False
        return self._least(level, place) < _NONE

    def _least(self, level: int, place: int) -> int:
        return int(self._rows[level + self._margin, place])

    def _reaches(self, level: int) -> bool:
        """Whether the table has that height, or could be continued up to it."""
        have = len(self._rows) - self._margin
        if level < have:
            return True
        most = MOST_CELLS // self._count - self._margin
        if level >= most:
            return False
        wanted = max(level + 1, min(2 * have, most))
        rows = np.full((self._margin + wanted, self._count), _NONE, np.int32)
        rows[: len(self._rows)] = self._rows
        self._rows = rows
        up, flat = self._upward, rows.reshape(-1)
        places = (self._margin - up.levels) * self._count + up.sources
        for each in range(have, wanted):
            row = rows[self._margin + each]
            if len(places):
                least = flat[places + each * self._count] + up.prices
                row[up.targets] = np.minimum(np.minimum.reduceat(least, up.starts), _NONE)
            row[list(self._begins.get(each, ()))] = _PRICE_OF_FUNCTION
            self._settle(row)
        return True

    def _settle(self, row: npt.NDArray[np.int32]) -> None:
        """Follow jumps and pointers, which change no height."""
        same = self._level
        while len(same.sources):
            least = np.minimum.reduceat(row[same.sources] + same.prices, same.starts)
            better = np.minimum(np.minimum(least, _NONE), row[same.targets])
            if np.array_equal(better, row[same.targets]):
                return
            row[same.targets] = better

    def _backward(
        self, place: int, level: int, limit: int
    ) -> tuple[dict[tuple[Stop, ...], int], bool]:
        """Paths with their prices, the best first; and whether there are no others."""
        least = self._least(level, place)
        if least >= _NONE:
            return {}, True
        stops = SharedStops()
        found, are_all = self._ends(place, level, limit, stops)
        return {stops.stops(path): price for path, price in found.items()}, are_all

    def _ends(
        self, place: int, level: int, limit: int, stops: SharedStops
    ) -> tuple[dict[int, int], bool]:
        # Of paths of one price the one that was begun last is ended first.
        numbers = count(0, -1)
        path = stops.before((place, level))
        waiting = [_Waiting(self._least(level, place), next(numbers), 0, place, level, path)]
        # Jumps and pointers lead to one place in many orders, which make no other path.
        continued: set[tuple[int, int, int]] = set()
        found: dict[int, int] = {}
        are_all = True
        for _ in range(MOST_STEPS):
            if not waiting:
                return found, are_all
            if len(found) >= limit:
                break
            _, _, spent, at, height, path = heappop(waiting)
            if (at, height, path) in continued:
                continue
            continued.add((at, height, path))
            if at in self._begins.get(height, ()):
                found.setdefault(path, spent)
            steps = self._steps_to(at, height, limit + 1)
            are_all = are_all and len(steps) <= limit
            for least, source, below, price, adds in steps[:limit]:
                longer = stops.before((source, below), path) if adds else path
                if (source, below, longer) not in continued:
                    state = (next(numbers), spent + price, source, below, longer)
                    heappush(waiting, _Waiting(least + spent, *state))
        return found, False

    def _steps_to(self, place: int, level: int, most: int) -> list[_Step]:
        """What leads to a place, at most so many: least price by it, source, its height, price, and
        whether it is a function more; the least first.
        """
        # Paths of one key, and keys of one program, come by the same places again and again.
        if most > self._steps_most or len(self._steps) > _MOST_KNOWN:
            self._steps, self._steps_most = {}, max(most, self._steps_most)
        known = self._steps.get((place, level))
        if known is None:
            known = self._steps[place, level] = self._searched_steps(place, level)
        return known[:most]

    def _searched_steps(self, place: int, level: int) -> list[_Step]:
        begin, end = self._into[place], self._into[place + 1]
        ways = self._ways
        below = level - ways.levels[begin:end]
        least = self._rows[below + self._margin, ways.sources[begin:end]].astype(np.int64)
        chosen = np.flatnonzero((below >= 0) & (least < _NONE))
        total = least + ways.prices[begin:end]
        chosen = chosen[np.argsort(total[chosen], kind="stable")][: self._steps_most]
        at = chosen + begin
        columns = total[chosen], ways.sources[at], below[chosen], ways.prices[at], ways.added[at]
        return list(zip(*(column.tolist() for column in columns), strict=True))
