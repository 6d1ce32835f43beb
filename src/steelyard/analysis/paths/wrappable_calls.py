"""Which calls of one function by another can be led through a wrapper, and which cannot.

A wrapper makes the stack higher between a caller and the function that it calls. It may not stand
between a function and arguments on the stack, and what is higher has to be known for each path: so
no other way may lead from the caller to the function, as by its address or by a tail call.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

Call = tuple[int, int]


@dataclass(frozen=True)
class CallPlace:
    """A call instruction.

    Parameters
    ----------
    offset, address : int
        In the file and in memory.
    caller, callee : int
        Addresses of functions.
    distance_bytes : int
        From the stack pointer to where the frame of the caller begins; 0: not known.
    passes_no_stack : bool
        No argument can be at the top of the stack.
    """

    offset: int
    address: int
    caller: int
    callee: int
    distance_bytes: int
    passes_no_stack: bool


@dataclass(frozen=True)
class CalledFunction:
    """What a function does with its caller's stack, and where it leads to.

    Parameters
    ----------
    leaves_to : tuple of int
        Functions that it ends with by tail calls.
    leaves_unknown, calls_unknown : bool
        It may end with, or call, code that is not in the program, or by an address.
    is_named : bool
        It may be called by its address.
    reason : str
        Why it is not seen that it uses nothing of its caller's stack; empty where it is.
    """

    leaves_to: tuple[int, ...]
    leaves_unknown: bool
    calls_unknown: bool
    is_named: bool
    reason: str


@dataclass(frozen=True)
class ProgramCalls:
    """The calls of a program.

    Parameters
    ----------
    places : tuple of CallPlace
    functions : dict of int to CalledFunction
        By address.
    """

    places: tuple[CallPlace, ...]
    functions: dict[int, CalledFunction]

    def places_of(self) -> dict[Call, list[CallPlace]]:
        """The instructions of each call."""
        found: dict[Call, list[CallPlace]] = {}
        for place in self.places:
            found.setdefault((place.caller, place.callee), []).append(place)
        return found


@dataclass(frozen=True)
class _Reached:
    functions: frozenset[int]
    unknown: bool


class _RefusedError(Exception):
    """Why a call cannot be wrapped."""


def wrappable_calls(
    program: ProgramCalls, learnt: Collection[Call]
) -> tuple[frozenset[Call], dict[Call, str]]:
    """The calls that can be wrapped, and why others cannot.

    Parameters
    ----------
    program : ProgramCalls
    learnt : collection of (int, int)
        Callers and callees of paths.
    """
    rules = _Rules(program, learnt)
    found: set[Call] = set()
    refused: dict[Call, str] = {}
    for call in learnt:
        try:
            rules.check(call)
            found.add(call)
        except _RefusedError as reason:
            refused[call] = str(reason)
    return frozenset(found), refused


class _Rules:
    def __init__(self, program: ProgramCalls, learnt: Collection[Call]) -> None:
        self._functions = program.functions
        self._places = program.places_of()
        self._learnt = frozenset(learnt)
        self._reached: dict[int, _Reached] = {}
        self._callees: dict[int, set[int]] = {}
        for caller, callee in self._places:
            self._callees.setdefault(caller, set()).add(callee)
        self._by_address: set[int] = set()
        for start, function in self._functions.items():
            if function.is_named:
                self._by_address |= self._reach(start).functions

    def check(self, call: Call) -> None:
        places = self._places.get(call)
        caller, callee = call
        if places is None or caller not in self._functions:
            raise _RefusedError("no instruction calls the function itself")
        reason = self._stack_use(callee)
        if reason and not all(place.passes_no_stack for place in places):
            raise _RefusedError(reason)
        reached = self._reach(callee)
        for other in self._callees[caller] - {callee}:
            if callee in self._reach(other).functions:
                raise _RefusedError(
                    "another call of the caller leads to the function by a tail call"
                )
        if callee in self._by_address and self._calls_unknown(caller):
            raise _RefusedError("the caller may call the function by its address too")
        if any((caller, other) in self._learnt for other in reached.functions - {callee}):
            raise _RefusedError("the function leads to others by tail calls")
        if reached.unknown and any(
            (caller, other) in self._learnt for other in self._by_address - {callee}
        ):
            raise _RefusedError("the function may lead to others by tail calls")

    def _calls_unknown(self, caller: int) -> bool:
        return self._functions[caller].calls_unknown or any(
            self._reach(callee).unknown for callee in self._callees[caller]
        )

    def _stack_use(self, callee: int) -> str:
        """Why it is not seen that a function, with its tail calls, uses no stack of its caller."""
        reached = self._reach(callee)
        reasons = (self._functions[one].reason for one in sorted(reached.functions))
        found = next((reason for reason in reasons if reason), "")
        if not found and reached.unknown:
            return "it ends with code that is not known"
        return found

    def _reach(self, start: int) -> _Reached:
        """Functions that are entered with the stack as it is at the entry of one, with that."""
        known = self._reached.get(start)
        if known is not None:
            return known
        found, left, unknown = {start}, [start], False
        while left:
            function = self._functions.get(left.pop())
            if function is None:
                unknown = True
                continue
            unknown |= function.leaves_unknown
            left += [target for target in function.leaves_to if target not in found]
            found.update(function.leaves_to)
        whole = frozenset(one for one in found if one in self._functions)
        reached = self._reached[start] = _Reached(whole, unknown)
        return reached
