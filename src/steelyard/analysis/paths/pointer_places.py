"""What calls by pointers may lead to, as places between the callers and the functions.

Functions that the same calls may lead to share a place, so that there are not as many ways as
callers times functions: those that read as many arguments, and virtual ones that are called at the
same offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.analysis.paths.call_graph import MOST_ARGUMENTS, POINTER, CallGraph, Transfer


class PointerPlaces:
    """The places of pointers.

    Parameters
    ----------
    graph : CallGraph
    first : int
        The number of the first place. The first ones are those of functions by how many arguments
        they read; those of virtual functions are behind.
    """

    def __init__(self, graph: CallGraph, first: int) -> None:
        self._graph = graph
        self._first = first
        self._groups: dict[frozenset[int], int] = {}
        self._of: dict[tuple[int | None, int], tuple[int, ...]] = {}
        for one in graph.transfers:
            asked = one.callee, one.arguments
            if one.kind == POINTER and asked not in self._of:
                self._of[asked] = self._places(one)
        self.count = MOST_ARGUMENTS + 1 + len(self._groups)

    def _places(self, transfer: Transfer) -> tuple[int, ...]:
        plain = range(self._first, self._first + transfer.arguments + 1)
        virtual = frozenset(self._graph.targets(transfer) & self._graph.virtual.keys())
        if not virtual:
            return tuple(plain)
        place = self._first + MOST_ARGUMENTS + 1 + len(self._groups)
        return (*plain, self._groups.setdefault(virtual, place))

    def of(self, transfer: Transfer) -> tuple[int, ...]:
        """The places that a call by a pointer leads to."""
        return self._of[transfer.callee, transfer.arguments]

    def ways(self, places: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """From each place to those that it leads to, by the places of functions."""
        for function in (self._graph.taken - self._graph.virtual.keys()) & places.keys():
            yield self._first + self._graph.reads.get(function, 0), places[function]
        for virtual, place in self._groups.items():
            yield from ((place, places[one]) for one in virtual & places.keys())
