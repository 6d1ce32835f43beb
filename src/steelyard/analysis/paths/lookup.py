"""The call paths that a key, a function and a height of the stack, may mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from steelyard.analysis.paths.path_labels import PathLabels
from steelyard.analysis.paths.path_map import (
    NO_CALL_SITE,
    NO_HEIGHT,
    ROOT,
    PathMap,
    PathNode,
    PathNumbers,
    functions_of,
)
from steelyard.analysis.paths.path_marks import ANY_MARK, Call, carried_mark, node_marks
from steelyard.analysis.paths.stack_alignment import (
    ANY_STACK,
    CANONICAL_START,
    at_stack,
    beyond_telling,
    modulus_bytes,
    residues,
)

_One = TypeVar("_One")


@dataclass(frozen=True)
class Candidate:
    """A path that a key may mean.

    Parameters
    ----------
    functions : tuple of str
        Names, outermost first; with the address of what has no name of its own, and with the call
        site that led to the next one where the map has them.
    share : float
        Part of the key's learnt calls that came by this path, from 0 to 1; where none of them was
        counted, the candidates have equal parts.
    is_learnt : bool
        Otherwise the code of the program has the path, for a key that was never learnt.
    """

    functions: tuple[str, ...]
    share: float
    is_learnt: bool = True


class _Stack:
    """The paths of a map by their keys, for stacks that begin alike."""

    def __init__(
        self,
        nodes: Sequence[PathNode],
        marks: Mapping[Call, int],
        whole: Mapping[int, int],
        untold: Collection[int],
    ) -> None:
        self.ends: dict[tuple[int, int], list[int]] = {}
        self.marks = node_marks(nodes, marks)
        for index, node in enumerate(nodes):
            key = whole.get(node.function, node.function), node.height_bytes
            if node.height_bytes != NO_HEIGHT and key[0] not in untold:
                self.ends.setdefault(key, []).append(index)

    def ends_of(self, function: int, height_bytes: int, mark: int) -> list[int]:
        ends = self.ends.get((function, height_bytes), [])
        return ends if mark == ANY_MARK else [end for end in ends if self.marks[end] == mark]


class KeyedPaths:
    """The paths of a map by their keys.

    A residue is where the stack of a thread begins, modulo `modulus_bytes`; with `ANY_STACK` a key
    has the paths of all of them.

    Parameters
    ----------
    path_map : PathMap
    whole : mapping of int to int
        The function that a function of the map is a part of; those that are not in it are whole.
    """

    def __init__(self, path_map: PathMap, whole: Mapping[int, int]) -> None:
        self.path_map = path_map
        self.modulus_bytes = modulus_bytes(path_map)
        self.untold = beyond_telling(path_map, whole)
        self._whole = whole
        self._numbers = PathNumbers().of(path_map.nodes)
        self._stacks: dict[int, _Stack] = {}
        self._known: dict[tuple[int, int, int, int], tuple[Candidate, ...]] = {}
        self._labels = PathLabels(path_map)
        self._carried: dict[tuple[int, int, int, int], int] = {}

    def candidates(
        self,
        function: int,
        height_bytes: int,
        mark: int = ANY_MARK,
        residue_bytes: int = ANY_STACK,
    ) -> tuple[Candidate, ...]:
        """The paths of a key, the most frequent first; none where it was never learnt."""
        key = function, height_bytes, mark, residue_bytes
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._ranked(self._ends_of(*key))
        return found

    def mark(self, function: int, height_bytes: int, value: int, stack_start: int) -> int:
        """The mark of a sample whose thread carries a value, as `carried_mark` says."""
        place = function, height_bytes, value, stack_start
        found = self._carried.get(place)
        if found is None:
            stack = self._stack(stack_start % self.modulus_bytes)
            ends = stack.ends_of(function, height_bytes, ANY_MARK)
            marks = {stack.marks[end] for end in ends}
            found = carried_mark(value, stack_start, marks) if marks else ANY_MARK
            self._carried[place] = found
        return found

    def at_any_height(self, function: int) -> tuple[Candidate, ...]:
        """The paths of a function, the most frequent first."""
        nodes = enumerate(self.path_map.nodes)
        return self._ranked(
            [
                at
                for at, node in nodes
                if node.height_bytes != NO_HEIGHT
                and self._whole.get(node.function, node.function) == function
            ]
        )

    def nearest(
        self, function: int, height_bytes: int, residue_bytes: int = CANONICAL_START
    ) -> tuple[int, Candidate] | None:
        """The learnt height of a function that is nearest to one, and the most frequent path there;
        None: the function was never learnt at any."""
        heights = (key[1] for key in self._stack(residue_bytes).ends if key[0] == function)
        found = min(heights, key=lambda height: (abs(height - height_bytes), height), default=None)
        if found is None:
            return None
        return found, self.candidates(function, found, ANY_MARK, residue_bytes)[0]

    def routes(
        self,
        function: int,
        height_bytes: int,
        mark: int = ANY_MARK,
        residue_bytes: int = ANY_STACK,
    ) -> frozenset[tuple[int, ...]]:
        """The paths of a key as addresses of whole functions, outermost first."""
        ends = self._ends_of(function, height_bytes, mark, residue_bytes)
        return frozenset(map(self._route, ends))

    def ambiguous(self) -> Iterator[tuple[int, int, frozenset[tuple[int, ...]]]]:
        """Keys with several paths: function, height, and the paths as `routes` gives them."""
        for function, height_bytes in self._each_stack(lambda stack: stack.ends):
            routes = self.routes(function, height_bytes)
            if len(routes) > 1:
                yield function, height_bytes, routes

    def told(
        self,
        function: int,
        height_bytes: int,
        mark: int,
        residue_bytes: int,
        chain: tuple[int, ...],
    ) -> tuple[Candidate, ...]:
        """The paths of a key that end with these whole functions, outermost first."""
        ends = self._ends_of(function, height_bytes, mark, residue_bytes)
        return self._ranked([end for end in ends if self._route(end)[-len(chain) :] == chain])

    def _route(self, end: int) -> tuple[int, ...]:
        functions = functions_of(self.path_map, end)
        return tuple(reversed([self._whole.get(one, one) for one in functions]))

    def _ends_of(
        self, function: int, height_bytes: int, mark: int, residue_bytes: int
    ) -> Sequence[int]:
        if residue_bytes != ANY_STACK:
            return self._stack(residue_bytes).ends_of(function, height_bytes, mark)
        return self._each_stack(lambda stack: stack.ends_of(function, height_bytes, mark))

    def _each_stack(self, what: Callable[[_Stack], Iterable[_One]]) -> list[_One]:
        """What is found of each stack, once."""
        stacks = map(self._stack, residues(self.path_map))
        return list(dict.fromkeys(one for stack in stacks for one in what(stack)))

    def _stack(self, residue_bytes: int) -> _Stack:
        found = self._stacks.get(residue_bytes)
        if found is None:
            nodes = at_stack(self.path_map, residue_bytes)
            found = _Stack(nodes, self.path_map.marks, self._whole, self.untold)
            self._stacks[residue_bytes] = found
        return found

    def _ranked(self, ends: Sequence[int]) -> tuple[Candidate, ...]:
        calls: Counter[int] = Counter()
        first: dict[int, int] = {}
        for end in ends:
            calls[self._numbers[end]] += self.path_map.nodes[end].call_count
            first.setdefault(self._numbers[end], end)
        total = sum(calls.values())
        return tuple(
            Candidate(self._named(first[number]), count / total if total else 1 / len(calls))
            for number, count in calls.most_common()
        )

    def _named(self, end: int) -> tuple[str, ...]:
        """The functions of the path to a node, each but the last with where it called the next."""
        names: list[str] = []
        call_site = NO_CALL_SITE
        while end != ROOT:
            node = self.path_map.nodes[end]
            names.append(self._labels.name(node.function, call_site))
            call_site, end = node.call_site, node.parent
        return tuple(reversed(names))


def candidates(
    path_map: PathMap,
    parts: frozenset[int],
    height_bytes: int | None,
    stack_start: int | None = None,
) -> tuple[Candidate, ...]:
    """The paths of a key, the most frequent first; none where it was never learnt.

    Parameters
    ----------
    path_map : PathMap
    parts : frozenset of int
        Addresses of the function: one, or those of its parts.
    height_bytes : int or None
        None: any.
    stack_start : int, optional
        None: anywhere.
    """
    function = min(parts)
    keyed = KeyedPaths(path_map, dict.fromkeys(parts, function))
    if height_bytes is None:
        return keyed.at_any_height(function)
    residue = ANY_STACK if stack_start is None else stack_start % keyed.modulus_bytes
    return keyed.candidates(function, height_bytes, ANY_MARK, residue)
