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
class Reached:
    """Functions, and whether others that are not known may be reached too."""

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
    rules = CallRules(program, learnt)
    found: set[Call] = set()
    refused: dict[Call, str] = {}
    for call in learnt:
        try:
            rules.check(call)
            found.add(call)
        except _RefusedError as reason:
            refused[call] = str(reason)
    return frozenset(found), refused


class CallRules:
    """What is known of the calls of a program, and which can be wrapped."""

    def __init__(self, program: ProgramCalls, learnt: Collection[Call]) -> None:
        self.functions = program.functions
        self.places = program.places_of()
        self._learnt = frozenset(learnt)
        self._reached: dict[int, Reached] = {}
        self.callees: dict[int, set[int]] = {}
        for caller, callee in self.places:
            self.callees.setdefault(caller, set()).add(callee)
        self.by_address: set[int] = set()
        for start, function in self.functions.items():
            if function.is_named:
                self.by_address |= self.reach(start).functions

    def check(self, call: Call) -> None:
        """Raise why a call cannot be wrapped."""
        places = self.places.get(call)
        caller, callee = call
        if places is None or caller not in self.functions:
            raise _RefusedError("no instruction calls the function itself")
        reason = self.stack_use(callee)
        if reason and not all(place.passes_no_stack for place in places):
            raise _RefusedError(reason)
        reached = self.reach(callee)
        for other in self.callees[caller] - {callee}:
            if callee in self.reach(other).functions:
                raise _RefusedError(
                    "another call of the caller leads to the function by a tail call"
                )
        if callee in self.by_address and self.calls_unknown(caller):
            raise _RefusedError("the caller may call the function by its address too")
        if any((caller, other) in self._learnt for other in reached.functions - {callee}):
            raise _RefusedError("the function leads to others by tail calls")
        if reached.unknown and any(
            (caller, other) in self._learnt for other in self.by_address - {callee}
        ):
            raise _RefusedError("the function may lead to others by tail calls")

    def calls_unknown(self, caller: int) -> bool:
        """Whether a function may call what is not known."""
        return self.functions[caller].calls_unknown or any(
            self.reach(callee).unknown for callee in self.callees[caller]
        )

    def stack_use(self, callee: int) -> str:
        """Why it is not seen that a function, with its tail calls, uses no stack of its caller."""
        reached = self.reach(callee)
        reasons = (self.functions[one].reason for one in sorted(reached.functions))
        found = next((reason for reason in reasons if reason), "")
        if not found and reached.unknown:
            return "it ends with code that is not known"
        return found

    def reach(self, start: int) -> Reached:
        """Functions that are entered with the stack as it is at the entry of one, with that."""
        known = self._reached.get(start)
        if known is not None:
            return known
        found, left, unknown = {start}, [start], False
        while left:
            function = self.functions.get(left.pop())
            if function is None:
                unknown = True
                continue
            unknown |= function.leaves_unknown
            left += [target for target in function.leaves_to if target not in found]
            found.update(function.leaves_to)
        whole = frozenset(one for one in found if one in self.functions)
        reached = self._reached[start] = Reached(whole, unknown)
        return reached
