"""Calls that can be marked, with those that one function leads to by tail calls."""

from __future__ import annotations

from steelyard.analysis.paths.markable_calls import MarkableCalls, markable_calls, other_calls
from steelyard.analysis.paths.marked_calls import marked_calls
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
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


def test_what_takes_the_stack_is_not_marked_and_what_is_called_by_its_address_is_not_sure():
    found = program((MAIN, F), (MAIN, G), (MAIN, H), calls_unknown={MAIN}, named={F}, passes={G})
    classes, refused = markable_calls(found, [(MAIN, F), (MAIN, G), (MAIN, H), (MAIN, TAIL)])
    assert [(one.learnt, one.is_sure) for one in classes] == [
        (((MAIN, F),), False),
        (((MAIN, H),), True),
    ]
    assert refused == {
        (MAIN, G): "it takes arguments from the stack",
        (MAIN, TAIL): "no instruction calls the function itself",
    }


def test_what_may_leave_to_a_learnt_function_that_is_named_is_not_sure():
    found = program((MAIN, F), leaves_unknown={F}, named={H})
    classes, _ = markable_calls(found, [(MAIN, F), (MAIN, H)])
    assert [(one.learnt, one.is_sure) for one in classes] == [(((MAIN, F),), False)]


# `leaf` (TAIL) is called at one height by way of F and by way of G.
NODES = (
    PathNode(ROOT, MAIN, 16, 1),
    PathNode(0, F, 48, 2),
    PathNode(0, G, 48, 2),
    PathNode(1, TAIL, 80, 3),
    PathNode(2, TAIL, 80, 1),
)
MAP = PathMap("p", "ab", 1, {MAIN: "main", F: "f", G: "g", TAIL: "leaf"}, {}, NODES)


def unsure(*calls: Call) -> list[MarkableCalls]:
    return [MarkableCalls((call,), (call,), is_sure=False) for call in calls]


def test_two_calls_that_are_not_sure_tell_paths_apart_and_one_does_not():
    alone = marked_calls(MAP, 1, unsure((MAIN, F)))
    assert (alone.calls, alone.exact_share) == ((), 1 - 2 / 5)
    both = marked_calls(MAP, 1, unsure((MAIN, F), (MAIN, G)))
    assert (both.calls, both.exact_share) == (((MAIN, F), (MAIN, G)), 1)


def test_a_call_that_is_sure_is_enough():
    sure = MarkableCalls(((MAIN, G),), ((MAIN, G),))
    found = marked_calls(MAP, 1, [*unsure((MAIN, F)), sure])
    assert (found.calls, found.exact_share) == (((MAIN, G),), 1)


def test_other_calls_are_those_that_no_learnt_path_has():
    found = program((MAIN, F), (MAIN, G), (F, H))
    assert [one.calls for one in other_calls(found, [(MAIN, F)], [])] == [
        ((MAIN, G),),
        ((F, H),),
    ]


def test_a_call_that_leads_to_a_learnt_one_by_a_tail_call_is_not_unlearnt():
    found = program((MAIN, F), (MAIN, G), leaves={G: (TAIL,)})
    assert [one.calls for one in other_calls(found, [(MAIN, TAIL)], [])] == [((MAIN, F),)]


def test_a_call_of_what_was_not_watched_is_not_unlearnt():
    found = program((MAIN, F), (MAIN, G))
    assert [one.calls for one in other_calls(found, [], [F])] == [((MAIN, G),)]


def test_calls_of_functions_whose_frame_varies_are_marked_though_they_were_learnt():
    found = program((MAIN, F), (F, G), (F, H))
    learnt = [(MAIN, F), (F, G)]
    assert [one.calls for one in other_calls(found, learnt, varying=[F])] == [((F, G),), ((F, H),)]
