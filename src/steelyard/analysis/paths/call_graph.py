"""Which functions of a program call which others, as its code says.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from steelyard.analysis.paths.path_map import ROOT, PathMap

FUNCTION, HELD, POINTER, LIBRARY = "call", "held", "pointer", "library"
# In registers (System V ABI for AMD64, section 3.2.3).
MOST_ARGUMENTS = 6
# Functions of the C library that start a thread with a function that is given.
_THREADS = frozenset({"pthread_create", "thrd_create"})


class Transfer(NamedTuple):
    """One way from a function to another.

    Parameters
    ----------
    caller : int
        Address of the function in its file.
    kind : str
        `FUNCTION` of the program; `HELD`, one of those that a pointer may hold there; `POINTER`,
        whatever address is held there; or `LIBRARY`.
    is_jump : bool
        The function is left, and is gone.
    height_bytes : int or None
        How much higher the stack is in the other; None: that varies.
    callee : int or None
        Of `FUNCTION` and `HELD` its address. Of `POINTER` where the pointer lies behind the address
        in a register, if it does.
    symbol : str
        Of `LIBRARY`.
    arguments : int
        Of `POINTER` how many arguments are passed in registers, at most.
    """

    caller: int
    kind: str
    is_jump: bool
    height_bytes: int | None
    callee: int | None = None
    symbol: str = ""
    arguments: int = MOST_ARGUMENTS


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
    reads : mapping of int to int
        How many arguments taken functions read from registers or declare, at least; those with
        some.
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
    reads: Mapping[int, int] = field(default_factory=dict[int, int])
    _targets: dict[tuple[int | None, int], frozenset[int]] = field(
        default_factory=dict[tuple[int | None, int], frozenset[int]],
        init=False,
        repr=False,
        compare=False,
    )

    def targets(self, transfer: Transfer) -> frozenset[int]:
        """The functions that a call by a pointer may lead to.

        A virtual function whose address is in tables of these alone is called through one of the
        tables, at its own offset, or by a pointer that was read from there before. No function
        reads more arguments than it is passed.
        """
        asked = transfer.callee, transfer.arguments
        found = self._targets.get(asked)
        if found is None:
            found = self._targets[asked] = frozenset(
                one for one in self.taken if self._may_lead_to(one, *asked)
            )
        return found

    def _may_lead_to(self, function: int, offset: int | None, arguments: int) -> bool:
        offsets = self.virtual.get(function)
        is_at_offset = offset is None or offsets is None or offset in offsets
        return is_at_offset and self.reads.get(function, 0) <= arguments

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
        to = graph.targets(one) if one.kind == POINTER else {one.callee}
        ways.setdefault(one.caller, set()).update(each for each in to if each is not None)
    found = {one.function for one in beginnings}
    waiting = list(found)
    while waiting:
        fresh = ways.get(waiting.pop(), set()) - found
        found |= fresh
        waiting += fresh
    return found


def without_calls(graph: CallGraph, calls: Collection[tuple[int, int]]) -> CallGraph:
    """The graph without the direct calls of some callers of some callees."""
    transfers = tuple(
        one
        for one in graph.transfers
        if one.kind != FUNCTION or one.is_jump or (one.caller, one.callee) not in calls
    )
    return replace(graph, transfers=transfers)


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

    def without_calls(self, calls: Collection[tuple[int, int]]) -> LearntSteps:
        """Without those of some callers to some callees."""
        transfers = {one for one in self.transfers if (one.caller, one.callee) not in calls}
        return LearntSteps(self.beginnings, frozenset(transfers))


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
