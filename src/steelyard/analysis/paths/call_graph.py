"""Which functions of a program call which others, as its code says.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from steelyard.analysis.paths.path_map import ROOT, PathMap

FUNCTION, POINTER, LIBRARY = "call", "pointer", "library"
# Functions of the C library that start a thread with a function that is given.
_THREADS = frozenset({"pthread_create", "thrd_create"})


class Transfer(NamedTuple):
    """One way from a function to another.

    Parameters
    ----------
    caller : int
        Address of the function in its file.
    kind : str
        `FUNCTION` of the program; `POINTER`, whatever address is held there; or `LIBRARY`.
    is_jump : bool
        The function is left, and is gone.
    height_bytes : int or None
        How much higher the stack is in the other; None: that varies.
    callee : int or None
        Of `FUNCTION` its address. Of `POINTER` where the pointer lies behind the address in a
        register, if it does.
    symbol : str
        Of `LIBRARY`.
    """

    caller: int
    kind: str
    is_jump: bool
    height_bytes: int | None
    callee: int | None = None
    symbol: str = ""


class Beginning(NamedTuple):
    """A function that a stack begins with, and how high that is in it."""

    function: int
    height_bytes: int


@dataclass(frozen=True)
class Underneath:
    """How high the stack is in functions that the C library calls, in bytes.

    Parameters
    ----------
    first_bytes, initial_bytes, thread_bytes : int
        In `main`, in what is called before it, and in the function that a thread is started with.
    """

    first_bytes: int
    initial_bytes: int
    thread_bytes: int


@dataclass(frozen=True)
class CallGraph:
    """The functions of a program, and the ways between them.

    Parameters
    ----------
    functions : tuple of int
        Addresses in the program's file.
    parts : dict of int to int
        What is a part of a function, such as one that compilers keep apart as cold.
    transfers : tuple of Transfer
    taken, exported : frozenset of int
        Functions whose address is in data or in code, and those that other files can name.
    varying : dict of int to str
        Functions whose stack in use varies, and why.
    first : int or None
        The function that the C library calls as `main`.
    initial, final : tuple of int
        Functions that are called before and after it.
    virtual : mapping of int to frozenset of int
        Taken functions whose address is in tables of virtual functions (C++) alone, and how many
        bytes behind the address that objects hold of such a table.
    """

    functions: tuple[int, ...]
    parts: dict[int, int]
    transfers: tuple[Transfer, ...]
    taken: frozenset[int]
    exported: frozenset[int]
    varying: dict[int, str]
    first: int | None
    initial: tuple[int, ...]
    final: tuple[int, ...]
    virtual: Mapping[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    _by_offset: dict[int, frozenset[int]] = field(
        default_factory=dict[int, frozenset[int]], init=False, repr=False, compare=False
    )

    def targets(self, offset: int | None) -> frozenset[int]:
        """The functions that a call by a pointer may lead to, which lies so far behind the address
        in a register; None: that is not known.

        A virtual function whose address is in tables of these alone is called through one of the
        tables, at its own offset, or by a pointer that was read from there before.
        """
        if offset is None or not self.virtual:
            return self.taken
        found = self._by_offset.get(offset)
        if found is None:
            virtual = {one for one, offsets in self.virtual.items() if offset not in offsets}
            found = self._by_offset[offset] = self.taken - virtual
        return found

    @property
    def callable(self) -> frozenset[int]:
        """Functions that libraries can call: by their address, by name, or as the program ends."""
        return self.taken | self.exported | {*self.initial, *self.final}

    def whole(self, function: int) -> int:
        """The function that this one is a part of, or itself."""
        return self.parts.get(function, function)

    def starts_threads(self) -> bool:
        """Whether threads are started with functions of the program."""
        return any(one.kind == LIBRARY and one.symbol in _THREADS for one in self.transfers)

    def beginnings(self, under: Underneath) -> list[Beginning]:
        """The functions that stacks begin with."""
        found = [Beginning(one, under.initial_bytes) for one in self.initial]
        if self.first is not None:
            found.append(Beginning(self.first, under.first_bytes))
        if self.starts_threads():
            found += [Beginning(one, under.thread_bytes) for one in sorted(self.taken)]
        return found


def reached(graph: CallGraph, beginnings: Iterable[Beginning], and_varying: bool) -> set[int]:
    """The functions that calls lead to from where stacks begin.

    Parameters
    ----------
    graph : CallGraph
    beginnings : iterable of Beginning
    and_varying : bool
        Also by calls of which it is not known how much higher the stack is behind them.
    """
    ways: dict[int, set[int]] = {}
    for one in graph.transfers:
        if one.kind == LIBRARY or (one.height_bytes is None and not and_varying):
            continue
        to = graph.targets(one.callee) if one.kind == POINTER else {one.callee}
        ways.setdefault(one.caller, set()).update(each for each in to if each is not None)
    found = {one.function for one in beginnings}
    waiting = list(found)
    while waiting:
        fresh = ways.get(waiting.pop(), set()) - found
        found |= fresh
        waiting += fresh
    return found


@dataclass(frozen=True)
class LearntSteps:
    """What the paths of a map say of beginnings, and of calls that code does not show.

    Parameters
    ----------
    beginnings : frozenset of Beginning
    transfers : frozenset of Transfer
        Each from a function to the next one on a learnt path.
    """

    beginnings: frozenset[Beginning]
    transfers: frozenset[Transfer]


def learnt_steps(path_map: PathMap, graph: CallGraph) -> LearntSteps:
    """The beginnings and the calls of learnt paths, calls through libraries among them."""
    beginnings: set[Beginning] = set()
    transfers: set[Transfer] = set()
    for node in path_map.nodes:
        function = graph.whole(node.function)
        if node.height_bytes <= 0:
            continue
        if node.parent == ROOT:
            beginnings.add(Beginning(function, node.height_bytes))
            continue
        parent = path_map.nodes[node.parent]
        higher = node.height_bytes - parent.height_bytes
        if parent.height_bytes > 0 and higher > 0:
            caller = graph.whole(parent.function)
            transfers.add(Transfer(caller, FUNCTION, False, higher, function))
    return LearntSteps(frozenset(beginnings), frozenset(transfers))
