"""Which learnt paths the code of the program allows, and why it does not allow others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from steelyard.analysis.paths.call_graph import (
    FUNCTION,
    HELD,
    LIBRARY,
    POINTER,
    Beginning,
    CallGraph,
    Transfer,
)
from steelyard.analysis.paths.path_map import NO_HEIGHT, ROOT, PathMap, PathNode

STARTED = "a library starts its first function (a thread, a signal, the end of the program)"
CALLED_BACK = "a library or a signal calls its function back"
ELSEWHERE = "it is on a stack that a signal handler has, or that the program made"
NO_CALL, OTHER_HEIGHT = "no such call is seen in the code", "its call has another height"
VARIES = "the frame of {} varies: {}"


@dataclass(frozen=True)
class StaticTruth:
    """How many learnt paths the code allows.

    Parameters
    ----------
    path_count : int
        Learnt paths with a height each.
    allowed_count : int
    reasons : tuple of (str, int)
        Why others are not, with how many paths; a path has the reason of its outermost step that is
        not allowed, where `by` names functions.
    examples : dict of str to tuple of int
        For each reason a step, from a function to the next one.
    """

    path_count: int
    allowed_count: int
    reasons: tuple[tuple[str, int], ...]
    examples: dict[str, tuple[int, ...]]


class StepFinder:
    """What a function can lead to in one step of a path, and how much higher the stack is there."""

    def __init__(self, graph: CallGraph, more: Iterable[Transfer] = ()) -> None:
        self.graph = graph
        self._by_caller: dict[int, list[Transfer]] = {}
        for one in (*graph.transfers, *more):
            self._by_caller.setdefault(one.caller, []).append(one)
        self._known: dict[int, dict[int, set[int]]] = {}
        self._jumped: dict[int, dict[int, set[int]]] = {}

    def from_function(self, caller: int) -> dict[int, set[int]]:
        """The heights of each function that a call of this one leads to, also by jumps."""
        known = self._known.get(caller)
        if known is None:
            known = self._known[caller] = {}
            for one in self._by_caller.get(caller, ()):
                if one.height_bytes is not None and (not one.is_jump or one.height_bytes > 0):
                    self._add(known, self._targets(one), one.height_bytes)
        return known

    def at_beginning(self, function: int) -> set[int]:
        """The functions that are there in its place after jumps, and itself."""
        return set(self._after_jumps(function))

    def by_address(self) -> set[int]:
        """The functions that a call by an address may lead to, also by jumps."""
        return {end for one in self.graph.taken for end in self._after_jumps(one)}

    def behind_varying(self, marked: Collection[tuple[int, int]]) -> set[int]:
        """The functions of paths whose heights vary, with no marked call that says so."""
        found: set[int] = set()
        for one in self.graph.transfers:
            if one.height_bytes is None:
                targets = self._open_targets(one)
                found |= {to for to in targets if (one.caller, to) not in marked}
        waiting = list(found)
        while waiting:
            fresh = self._callees(waiting.pop()) - found
            found |= fresh
            waiting += fresh
        return found

    def _callees(self, caller: int) -> set[int]:
        ways = self._by_caller.get(caller, ())
        return {to for one in ways for to in self._open_targets(one)}

    def calls_libraries(self, caller: int) -> bool:
        """Whether it calls functions of libraries."""
        return any(one.kind == LIBRARY for one in self._by_caller.get(caller, ()))

    def has_open_call(self, caller: int, callee: int) -> bool:
        """Whether a call whose height varies may lead there."""
        return any(
            one.height_bytes is None and callee in self._open_targets(one)
            for one in self._by_caller.get(caller, ())
        )

    def _open_targets(self, one: Transfer) -> set[int]:
        return {end for target in self._targets(one) for end in self._after_jumps(target)}

    def _targets(self, one: Transfer) -> Iterable[int]:
        if one.kind == POINTER:
            return self.graph.targets(one)
        return (one.callee,) if one.kind in (FUNCTION, HELD) and one.callee is not None else ()

    def _add(self, found: dict[int, set[int]], targets: Iterable[int], height: int) -> None:
        for target in targets:
            for end in self._after_jumps(target):
                found.setdefault(end, set()).add(height)

    def _after_jumps(self, function: int) -> Iterable[int]:
        known = self._jumped.get(function)
        if known is not None:
            return known
        found: dict[int, set[int]] = {function: set()}
        waiting = [function]
        while waiting:
            for one in self._by_caller.get(waiting.pop(), ()):
                if not one.is_jump or one.height_bytes != 0:
                    continue
                fresh = [target for target in self._targets(one) if target not in found]
                found.update((target, set()) for target in fresh)
                waiting += fresh
        self._jumped[function] = found
        return found


def static_truth(
    path_map: PathMap,
    graph: CallGraph,
    beginnings: Iterable[Beginning],
    names: dict[int, str],
) -> StaticTruth:
    """Compare learnt paths with the code.

    Parameters
    ----------
    path_map : PathMap
        Of that program.
    graph : CallGraph
    beginnings : iterable of Beginning
    names : dict of int to str
        Of functions.
    """
    steps = StepFinder(graph)
    begins = {
        Beginning(end, one.height_bytes)
        for one in beginnings
        for end in steps.at_beginning(one.function)
    }
    lacks: list[str | None] = []
    counts: Counter[str] = Counter()
    examples: dict[str, tuple[int, ...]] = {}
    for node in path_map.nodes:
        parent = None if node.parent == ROOT else path_map.nodes[node.parent]
        lack = None if parent is None else lacks[node.parent]
        if lack is None:
            lack = _lack(node, parent, steps, begins, names)
            if lack is not None:
                caller = () if parent is None else (graph.whole(parent.function),)
                examples.setdefault(lack, (*caller, graph.whole(node.function)))
        lacks.append(lack)
        if lack is not None and node.height_bytes != NO_HEIGHT:
            counts[lack] += 1
    with_height = sum(node.height_bytes != NO_HEIGHT for node in path_map.nodes)
    reasons = tuple(counts.most_common())
    return StaticTruth(with_height, with_height - sum(counts.values()), reasons, examples)


def _lack(
    node: PathNode,
    parent: PathNode | None,
    steps: StepFinder,
    begins: set[Beginning],
    names: dict[int, str],
) -> str | None:
    """Why a step of a path is not allowed; None: it is."""
    graph = steps.graph
    function = graph.whole(node.function)
    if node.height_bytes == NO_HEIGHT or (parent is not None and parent.height_bytes == NO_HEIGHT):
        return ELSEWHERE
    if parent is None:
        return None if Beginning(function, node.height_bytes) in begins else STARTED
    caller = graph.whole(parent.function)
    heights = steps.from_function(caller).get(function, set())
    if node.height_bytes - parent.height_bytes in heights:
        return None
    if caller in graph.varying and steps.has_open_call(caller, function):
        return VARIES.format(names.get(caller, f"{caller:#x}"), graph.varying[caller])
    if function in graph.callable:
        return CALLED_BACK
    return OTHER_HEIGHT if heights else NO_CALL
