"""Clones of functions: copies that only some callers call, so that they are functions of their own.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.4.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.wrappable_calls import Call, CallPlace, CallRules, ProgramCalls


@dataclass(frozen=True)
class Clone:
    """A copy of a function.

    Parameters
    ----------
    address : int
        Where it begins.
    original : int
        The function that it is a copy of.
    """

    address: int
    original: int


@dataclass(frozen=True)
class Clones:
    """The clones of a program.

    Parameters
    ----------
    clones : tuple of Clone
        By rising address.
    targets : mapping of (int, int) to int
        Which clone a function, or a clone, calls in the place of a function of the program.
    """

    clones: tuple[Clone, ...]
    targets: Mapping[Call, int]

    @property
    def originals(self) -> dict[int, int]:
        """The original of each clone, by addresses."""
        return {clone.address: clone.original for clone in self.clones}

    def callers(self, clone: int) -> tuple[int, ...]:
        """The functions and clones that call a clone."""
        return tuple(sorted(caller for (caller, _), to in self.targets.items() if to == clone))


NO_CLONES = Clones((), {})


def clonable_calls(
    program: ProgramCalls, learnt: Collection[Call], fixed: Mapping[int, str]
) -> tuple[frozenset[Call], dict[Call, str]]:
    """The calls that can go to a clone, and why others cannot.

    Parameters
    ----------
    program : ProgramCalls
    learnt : collection of Call
        Callers and callees of paths.
    fixed : mapping of int to str
        Functions that cannot be copied, and why.
    """
    rules = CallRules(program, learnt)
    found: set[Call] = set()
    refused: dict[Call, str] = {}
    for call in learnt:
        reason = fixed.get(call[1]) or _refusal(rules, call)
        if reason:
            refused[call] = reason
        else:
            found.add(call)
    return frozenset(found), refused


def _refusal(rules: CallRules, call: Call) -> str:
    """Why not all ways from a caller to a function are calls that can be changed."""
    caller, callee = call
    if call not in rules.places or caller not in rules.functions:
        return "no instruction calls the function itself"
    others = rules.callees[caller] - {callee}
    if any(callee in rules.reach(other).functions for other in others):
        return "another call of the caller leads to the function by a tail call"
    if callee in rules.by_address and rules.calls_unknown(caller):
        return "the caller may call the function by its address too"
    return ""


def with_clones(path_map: PathMap, clones: Clones) -> PathMap:
    """The map as it would be learnt of a program with clones."""
    nodes: list[PathNode] = []
    for node in path_map.nodes:
        caller = ROOT if node.parent == ROOT else nodes[node.parent].function
        function = clones.targets.get((caller, node.function), node.function)
        nodes.append(node._replace(function=function))
    originals = clones.originals
    names = {at: path_map.functions[original] for at, original in originals.items()}
    aligning = path_map.aligning or {}
    copied = {at: aligning[one] for at, one in originals.items() if one in aligning}
    return replace(
        path_map,
        nodes=tuple(nodes),
        functions={**path_map.functions, **names},
        originals={**path_map.originals, **originals},
        aligning={**aligning, **copied},
    )


def calls_with_clones(program: ProgramCalls, clones: Clones, moved: MovedCode) -> ProgramCalls:
    """The calls of a program with clones.

    Parameters
    ----------
    program : ProgramCalls
        Without them.
    clones : Clones
    moved : callable
        The address, and the offset in the file, of a call in a clone.
    """
    by_caller: dict[int, list[CallPlace]] = {}
    for place in program.places:
        by_caller.setdefault(place.caller, []).append(place)
    places = list(_retargeted(program.places, clones))
    functions = dict(program.functions)
    for clone in clones.clones:
        copies = (
            replace(place, **moved.of(clone, place), caller=clone.address)
            for place in by_caller.get(clone.original, ())
        )
        places += _retargeted(copies, clones)
        functions[clone.address] = replace(program.functions[clone.original], is_named=False)
    return ProgramCalls(tuple(places), functions)


class MovedCode:
    """Where the code of clones is.

    Parameters
    ----------
    parts : mapping of int to sequence of (int, int, int)
        For each clone the parts of its original: where each begins and ends, and where it begins in
        the clone.
    distance : int
        From the offset in the file to the address, of the code that is added.
    """

    def __init__(self, parts: Mapping[int, Iterable[tuple[int, int, int]]], distance: int) -> None:
        self._parts = {clone: tuple(rows) for clone, rows in parts.items()}
        self._distance = distance

    def address(self, clone: int, at: int) -> int | None:
        """Where an address of the original is in a clone; None: it is not in the original."""
        for start, end, moved in self._parts[clone]:
            if start <= at < end:
                return at - start + moved
        return None

    def offset(self, address: int) -> int:
        """Where in the file an address of a clone is."""
        return address - self._distance

    def of(self, clone: Clone, place: CallPlace) -> dict[str, int]:
        """Address and offset of a call in a clone."""
        address = self.address(clone.address, place.address)
        if address is None:
            raise ValueError(f"{place.address:#x} is not in {clone.original:#x}")
        return {"address": address, "offset": self.offset(address)}


def _retargeted(places: Iterable[CallPlace], clones: Clones) -> Iterable[CallPlace]:
    for place in places:
        to = clones.targets.get((place.caller, place.callee))
        yield place if to is None else replace(place, callee=to)
