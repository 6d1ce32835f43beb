"""Which functions are cloned: those that resolve most paths a byte, within the limit of code."""

from __future__ import annotations

from dataclasses import replace

from steelyard.analysis.paths.clones import (
    Clone,
    Clones,
    clonable_calls,
    with_clones,
)
from steelyard.analysis.paths.cloning_search import CloningRules, chosen_clones
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.wrappable_calls import CalledFunction, CallPlace, ProgramCalls

MAIN, LEFT, RIGHT, SHARED, LEAF, FIRST = 0x10, 0x20, 0x30, 0x40, 0x50, 0x1000
NAMES = {MAIN: "main", LEFT: "left", RIGHT: "right", SHARED: "shared", LEAF: "leaf"}


def path_map(*nodes: tuple[int, int, int]) -> PathMap:
    rows = tuple(PathNode(*node, call_count=1) for node in nodes)
    return PathMap("c", "b", 1, NAMES, {}, rows)


# Two ways to `shared`, and from there to `leaf`, of the same height.
DIAMOND = path_map(
    (ROOT, MAIN, 16),
    (0, LEFT, 32),
    (0, RIGHT, 32),
    (1, SHARED, 48),
    (2, SHARED, 48),
    (3, LEAF, 64),
    (4, LEAF, 64),
)
CALLS = {(MAIN, LEFT), (MAIN, RIGHT), (LEFT, SHARED), (RIGHT, SHARED), (SHARED, LEAF)}
RULES = CloningRules(
    calls=CALLS,
    sizes=dict.fromkeys(NAMES, 32),
    most_bytes=64,
    address=FIRST,
    limit_bytes=1000,
    goal=1.0,
)


def test_a_chain_of_clones_tells_apart_what_two_callers_lead_to():
    found = chosen_clones(DIAMOND, RULES)
    assert (found.before_count, found.after_count, found.path_count) == (3, 7, 7)
    assert found.clones.originals == {FIRST: SHARED, FIRST + 32: LEAF}
    assert found.byte_count == 64
    (caller,) = found.clones.callers(FIRST)
    assert caller in (LEFT, RIGHT)
    assert found.clones.callers(FIRST + 32) in ((FIRST,), (SHARED,))


def test_the_limit_of_code_is_kept():
    found = chosen_clones(DIAMOND, replace(RULES, most_bytes=63))
    assert found.byte_count == 32
    assert found.after_count == 5
    assert chosen_clones(DIAMOND, replace(RULES, most_bytes=31)).clones.clones == ()


def test_a_clone_with_a_larger_frame_tells_apart_all_below_it():
    most = {SHARED: 100}
    found = chosen_clones(DIAMOND, replace(RULES, most_frame_bytes=most))
    assert [clone.original for clone in found.clones.clones] == [SHARED]
    assert found.frame_bytes == {FIRST: 16}
    assert found.after_count == 7


def test_no_frame_grows_beyond_the_stack_that_there_may_be():
    rules = replace(RULES, most_frame_bytes={SHARED: 100}, limit_bytes=64)
    assert chosen_clones(DIAMOND, rules).frame_bytes == {}


def test_what_resolves_more_a_byte_is_cloned_first():
    rules = replace(RULES, sizes={**RULES.sizes, LEAF: 16, SHARED: 4096}, most_bytes=8000)
    wide = path_map(
        *DIAMOND.nodes[:0],
        *((n.parent, n.function, n.height_bytes) for n in DIAMOND.nodes),
        (1, LEAF, 90),
        (2, LEAF, 90),
    )
    calls = {*CALLS, (LEFT, LEAF), (RIGHT, LEAF)}
    found = chosen_clones(wide, replace(rules, calls=calls))
    assert found.clones.clones[0].original == LEAF


def test_callers_share_a_clone_where_their_heights_differ():
    nodes = (
        (ROOT, MAIN, 16),
        (0, LEFT, 32),
        (0, RIGHT, 32),
        (1, SHARED, 48),
        (2, SHARED, 48),
        (0, LEAF, 80),
        (5, SHARED, 96),
        (2, LEAF, 80),
        (7, SHARED, 96),
    )
    calls = {(LEFT, SHARED), (RIGHT, SHARED), (LEAF, SHARED), (MAIN, LEAF), (RIGHT, LEAF)}
    rules = replace(RULES, calls=calls, most_bytes=4096)
    found = chosen_clones(path_map(*nodes), rules)
    assert found.after_count == 9
    assert found.byte_count <= 96


def test_a_function_that_calls_itself_keeps_its_own_calls():
    nodes = ((ROOT, MAIN, 16), (0, LEFT, 32), (1, LEFT, 48), (0, RIGHT, 32), (3, LEFT, 48))
    calls = {(MAIN, LEFT), (LEFT, LEFT), (RIGHT, LEFT)}
    found = chosen_clones(path_map(*nodes), replace(RULES, calls=calls, most_bytes=4096))
    assert found.after_count == 5
    assert all(
        found.clones.originals.get(caller, caller) != callee
        for caller, callee in found.clones.targets
    )


def test_nothing_is_cloned_whose_calls_may_come_another_way():
    found = chosen_clones(DIAMOND, replace(RULES, calls=set()))
    assert found.clones.clones == ()
    assert found.after_count == found.before_count == 3


def test_the_map_of_a_program_with_clones_has_their_paths_by_the_names_of_the_originals():
    clones = Clones((Clone(FIRST, SHARED),), {(LEFT, SHARED): FIRST, (FIRST, LEAF): LEAF})
    found = with_clones(DIAMOND, clones)
    assert [node.function for node in found.nodes] == [
        MAIN, LEFT, RIGHT, FIRST, SHARED, LEAF, LEAF
    ]  # fmt: skip
    assert found.functions[FIRST] == "shared"
    assert found.originals == {FIRST: SHARED}
    assert [node.height_bytes for node in found.nodes] == [
        node.height_bytes for node in DIAMOND.nodes
    ]


def test_calls_that_cannot_go_to_a_clone_are_refused_by_name():
    plain = CalledFunction((), False, False, False, "it takes arguments from the stack")
    functions = {
        MAIN: plain,
        LEFT: CalledFunction((LEAF,), False, False, False, ""),
        RIGHT: CalledFunction((), False, True, False, ""),
        SHARED: CalledFunction((), False, False, True, ""),
        LEAF: plain,
    }
    pairs = [(MAIN, LEFT), (MAIN, LEAF), (RIGHT, SHARED), (RIGHT, LEAF), (MAIN, RIGHT)]
    places = tuple(CallPlace(0, 0, *pair, 16, False) for pair in pairs)
    learnt = [*pairs, (LEFT, SHARED)]
    able, why = clonable_calls(ProgramCalls(places, functions), learnt, {RIGHT: "it is odd"})
    # What takes arguments from the stack finds them in a clone, too.
    assert able == {(MAIN, LEFT), (RIGHT, LEAF)}
    assert why[MAIN, RIGHT] == "it is odd"
    assert why[MAIN, LEAF].startswith("another call of the caller leads to")
    assert why[RIGHT, SHARED] == "the caller may call the function by its address too"
    assert why[LEFT, SHARED] == "no instruction calls the function itself"
