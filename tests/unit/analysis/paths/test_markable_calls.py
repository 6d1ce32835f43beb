"""Calls that can be marked, with those that one function leads to by tail calls."""

from __future__ import annotations

from steelyard.analysis.paths.markable_calls import markable_calls
from steelyard.analysis.paths.wrappable_calls import (
    Call,
    CalledFunction,
    CallPlace,
    ProgramCalls,
)

MAIN, F, G, H, TAIL = 1, 2, 3, 4, 5


def program(
    *calls: Call, leaves: dict[int, tuple[int, ...]] | None = None, **facts: set[int]
) -> ProgramCalls:
    places = tuple(
        CallPlace(at, at, caller, callee, 16, callee not in facts.get("passes", set()))
        for at, (caller, callee) in enumerate(calls)
    )
    functions = {
        one: CalledFunction(
            (leaves or {}).get(one, ()),
            one in facts.get("leaves_unknown", set()),
            one in facts.get("calls_unknown", set()),
            one in facts.get("named", set()),
            "it takes arguments from the stack" if one in facts.get("passes", set()) else "",
        )
        for one in (MAIN, F, G, H, TAIL)
    }
    return ProgramCalls(places, functions)


def marked_together(found: ProgramCalls, *learnt: Call) -> list[set[Call]]:
    return [set(one.learnt) for one in markable_calls(found, learnt)[0]]


def test_calls_of_different_functions_are_marked_apart():
    found = program((MAIN, F), (MAIN, G))
    assert marked_together(found, (MAIN, F), (MAIN, G)) == [{(MAIN, F)}, {(MAIN, G)}]


def test_what_a_function_leads_to_by_a_tail_call_is_marked_with_it():
    found = program((MAIN, F), (MAIN, G), leaves={F: (TAIL,)})
    assert marked_together(found, (MAIN, F), (MAIN, TAIL), (MAIN, G)) == [
        {(MAIN, F), (MAIN, TAIL)},
        {(MAIN, G)},
    ]


def test_calls_that_lead_to_one_learnt_function_are_marked_together():
    found = program((MAIN, F), (MAIN, G), leaves={F: (TAIL,), G: (TAIL,)})
    assert marked_together(found, (MAIN, F), (MAIN, G)) == [{(MAIN, F)}, {(MAIN, G)}]
    together = {(MAIN, F), (MAIN, G), (MAIN, TAIL)}
    assert marked_together(found, (MAIN, F), (MAIN, G), (MAIN, TAIL)) == [together]


def test_what_only_one_of_them_leads_to_is_known_even_where_it_was_not_learnt():
    found = program((MAIN, F), (MAIN, G), leaves={F: (TAIL,)})
    classes, _ = markable_calls(found, [(MAIN, F), (MAIN, G)])
    assert [set(one.calls) for one in classes] == [{(MAIN, F), (MAIN, TAIL)}, {(MAIN, G)}]


def test_what_may_be_called_by_its_address_or_takes_the_stack_is_not_marked():
    found = program((MAIN, F), (MAIN, G), (MAIN, H), calls_unknown={MAIN}, named={F}, passes={G})
    classes, refused = markable_calls(found, [(MAIN, F), (MAIN, G), (MAIN, H), (MAIN, TAIL)])
    assert [one.learnt for one in classes] == [((MAIN, H),)]
    assert refused == {
        (MAIN, F): "the caller may call the function by its address too",
        (MAIN, G): "it takes arguments from the stack",
        (MAIN, TAIL): "no instruction calls the function itself",
    }
