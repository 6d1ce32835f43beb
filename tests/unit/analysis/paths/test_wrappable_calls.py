"""Which calls can be wrapped: one way leads there, and nothing is used of the caller's stack."""

from __future__ import annotations

import pytest

from steelyard.analysis.paths.wrappable_calls import (
    CalledFunction,
    CallPlace,
    ProgramCalls,
    wrappable_calls,
)

MAIN, A, B, C = 0x10, 0x20, 0x30, 0x40
PLAIN = CalledFunction((), False, False, False, "")
LIBRARY = CalledFunction((), False, True, False, "")
NAMED = CalledFunction((), False, False, True, "")
STACK = CalledFunction((), False, False, False, "it takes arguments from the stack")


def call(caller: int, callee: int, clear: bool = False) -> CallPlace:
    return CallPlace(0, 0, caller, callee, 16, clear)


def to(*functions: int, unknown: bool = False) -> CalledFunction:
    return CalledFunction(functions, unknown, False, False, "")


@pytest.mark.parametrize(
    ("functions", "places", "learnt", "reason"),
    [
        ({MAIN: PLAIN, A: PLAIN}, [call(MAIN, A)], [(MAIN, A)], None),
        ({MAIN: PLAIN, A: STACK}, [call(MAIN, A)], [(MAIN, A)], "arguments from the stack"),
        ({MAIN: PLAIN, A: STACK}, [call(MAIN, A, True)], [(MAIN, A)], None),
        (
            {MAIN: PLAIN, A: STACK},
            [call(MAIN, A, True), call(MAIN, A)],
            [(MAIN, A)],
            "arguments from the stack",
        ),
        ({MAIN: PLAIN, A: NAMED}, [], [(MAIN, A)], "no instruction calls"),
        ({MAIN: PLAIN, A: NAMED}, [call(MAIN, A)], [(MAIN, A)], None),
        ({MAIN: LIBRARY, A: NAMED}, [call(MAIN, A)], [(MAIN, A)], "by its address"),
        # What a tail call leads to has the stack as it is.
        ({MAIN: PLAIN, A: to(B), B: STACK}, [call(MAIN, A)], [(MAIN, A)], "arguments"),
        ({MAIN: PLAIN, A: to(B), B: PLAIN}, [call(MAIN, A)], [(MAIN, A)], None),
        (
            {MAIN: PLAIN, A: to(B), B: PLAIN},
            [call(MAIN, A)],
            [(MAIN, A), (MAIN, B)],
            "leads to others",
        ),
        (
            {MAIN: PLAIN, A: to(B), B: PLAIN},
            [call(MAIN, A), call(MAIN, B)],
            [(MAIN, B)],
            "another call of the caller leads",
        ),
        (
            {MAIN: PLAIN, A: to(B), B: to(A, C), C: STACK},
            [call(MAIN, A)],
            [(MAIN, A)],
            "arguments",
        ),
        ({MAIN: PLAIN, A: to(unknown=True)}, [call(MAIN, A)], [(MAIN, A)], "not known"),
        ({MAIN: PLAIN, A: to(unknown=True)}, [call(MAIN, A, True)], [(MAIN, A)], None),
        (
            {MAIN: PLAIN, A: to(unknown=True), C: NAMED},
            [call(MAIN, A, True)],
            [(MAIN, A), (MAIN, C)],
            "may lead to others",
        ),
        # By a tail call of one that is called by its address.
        (
            {MAIN: LIBRARY, A: PLAIN, B: CalledFunction((A,), False, False, True, "")},
            [call(MAIN, A)],
            [(MAIN, A)],
            "by its address",
        ),
    ],
)
def test_a_call_is_wrapped_if_nothing_else_leads_there(functions, places, learnt, reason):
    found, refused = wrappable_calls(ProgramCalls(tuple(places), functions), learnt)
    asked = next(one for one in learnt)
    if reason is None:
        assert asked in found
        assert asked not in refused
    else:
        assert reason in refused[asked]
        assert asked not in found
