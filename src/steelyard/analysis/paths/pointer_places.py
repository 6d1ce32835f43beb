"""What calls by pointers may lead to, as places between the callers and the functions.

Calls that may lead to the same functions share a place, so that there are not as many ways as
callers times functions. A place leads to that of calls with an argument less, and to the functions
that read one argument more than those.
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
        The number of the first place: that of functions which any pointer may lead to. Those
        behind it are of the functions that read up to so many arguments.
    """

    def __init__(self, graph: CallGraph, first: int) -> None:
        self._graph = graph
        self._first = first
        self._groups: dict[tuple[frozenset[int], int], int] = {}
        self._of: dict[tuple[int | None, int], int] = {}
        for one in graph.transfers:
            asked = one.callee, one.arguments
            if one.kind == POINTER and asked not in self._of:
                self._of[asked] = self._place(
                    frozenset(graph.targets(one) & graph.virtual.keys()), one
                )
        self.count = MOST_ARGUMENTS + 1 + len(self._groups)

    def _place(self, virtual: frozenset[int], transfer: Transfer) -> int:
        if not virtual:
            return self._first + transfer.arguments
        next_one = self._first + MOST_ARGUMENTS + 1 + len(self._groups)
        return self._groups.setdefault((virtual, transfer.arguments), next_one)

    def of(self, transfer: Transfer) -> int:
        """The place of a call by a pointer."""
        return self._of[transfer.callee, transfer.arguments]

    def ways(self, places: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """From each place to those that it leads to, by the places of functions."""
        for count in range(MOST_ARGUMENTS):
            yield self._first + count + 1, self._first + count
        for function in (self._graph.taken - self._graph.virtual.keys()) & places.keys():
            yield self._first + self._graph.reads.get(function, 0), places[function]
        for (virtual, arguments), place in self._groups.items():
            yield place, self._first + arguments
            yield from ((place, places[one]) for one in virtual & places.keys())
