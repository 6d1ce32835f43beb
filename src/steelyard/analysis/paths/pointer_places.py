"""What calls by pointers may lead to, as places between the callers and the functions.

Calls that may lead to the same functions share a place, so that there are not as many ways as
callers times functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.analysis.paths.call_graph import POINTER, CallGraph


class PointerPlaces:
    """The places of pointers.

    Parameters
    ----------
    graph : CallGraph
    first : int
        The number of the first place: that of functions which any pointer may lead to.
    """

    def __init__(self, graph: CallGraph, first: int) -> None:
        self._graph = graph
        self._first = first
        self._groups: dict[frozenset[int], int] = {frozenset(): first}
        self.of = {
            offset: self._groups.setdefault(self._virtual(offset), first + len(self._groups))
            for offset in (one.callee for one in graph.transfers if one.kind == POINTER)
        }
        self.count = len(self._groups)

    def _virtual(self, offset: int | None) -> frozenset[int]:
        return frozenset(self._graph.targets(offset) & self._graph.virtual.keys())

    def ways(self, places: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """From each place to those that it leads to, by the places of functions."""
        plain = self._graph.taken - self._graph.virtual.keys()
        yield from ((self._first, places[one]) for one in plain & places.keys())
        for virtual, place in self._groups.items():
            if place != self._first:
                yield place, self._first
                yield from ((place, places[one]) for one in virtual & places.keys())
