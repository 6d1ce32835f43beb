"""Paths that code allows for keys, beside an enumeration that goes forward."""

from __future__ import annotations

from random import Random

import pytest

from steelyard.analysis.paths.call_graph import (
    FUNCTION,
    HELD,
    LIBRARY,
    POINTER,
    Beginning,
    CallGraph,
    LearntSteps,
    Transfer,
    reached,
)
from steelyard.analysis.paths.static_search import MOST_CELLS, StaticSearch
from steelyard.analysis.paths.static_truth import StepFinder

MAIN, MIDDLE, LEAF, CALLBACK, OTHER = 0x100, 0x200, 0x300, 0x400, 0x500


def graph_of(
    *transfers: Transfer,
    taken: frozenset[int] = frozenset(),
    virtual: dict[int, frozenset[int]] | None = None,
    reads: dict[int, int] | None = None,
) -> CallGraph:
    functions = (MAIN, MIDDLE, LEAF, CALLBACK, OTHER)
    return CallGraph(
        functions,
        {},
        transfers,
        taken,
        frozenset(),
        {},
        MAIN,
        (),
        (),
        virtual or {},
        reads or {},
    )


def call(caller: int, callee: int, height: int | None) -> Transfer:
    return Transfer(caller, FUNCTION, False, height, callee)


def jump(caller: int, callee: int) -> Transfer:
    return Transfer(caller, FUNCTION, True, 0, callee)


BEGIN = [Beginning(MAIN, 64)]


def test_a_key_has_the_paths_whose_heights_add_up_to_its_own() -> None:
    graph = graph_of(
        call(MAIN, LEAF, 48), call(MAIN, MIDDLE, 32), call(MIDDLE, LEAF, 16), call(MIDDLE, LEAF, 32)
    )
    search = StaticSearch(graph, BEGIN)
    found = search.paths(LEAF, 64 + 48, 10)
    assert found.paths == ((MAIN, LEAF), (MAIN, MIDDLE, LEAF))
    assert found.are_all
    assert search.paths(LEAF, 64 + 64, 10).paths == ((MAIN, MIDDLE, LEAF),)
    assert search.paths(LEAF, 64 + 32, 10).paths == ()
    assert search.paths(LEAF, 64 + 49, 10).paths == ()
    assert search.paths(MAIN, 64, 10).paths == ((MAIN,),)


def test_a_function_that_is_left_by_a_jump_is_not_on_the_path() -> None:
    graph = graph_of(
        call(MAIN, MIDDLE, 32), jump(MIDDLE, OTHER), jump(OTHER, MIDDLE), call(OTHER, LEAF, 16)
    )
    search = StaticSearch(graph, BEGIN)
    assert search.paths(LEAF, 64 + 48, 10).paths == ((MAIN, OTHER, LEAF),)
    assert set(search.paths(OTHER, 64 + 32, 10).paths) == {(MAIN, OTHER)}


def test_a_pointer_leads_to_every_function_whose_address_is_taken() -> None:
    by_pointer = Transfer(MAIN, POINTER, False, 32)
    graph = graph_of(by_pointer, taken=frozenset({LEAF, MIDDLE}))
    search = StaticSearch(graph, BEGIN)
    assert search.can_reach(LEAF, 96)
    assert search.can_reach(MIDDLE, 96)
    assert not search.can_reach(OTHER, 96)


def test_a_pointer_leads_to_no_function_that_reads_more_arguments_than_it_is_passed() -> None:
    graph = graph_of(
        Transfer(MAIN, POINTER, False, 32, None, "", 1),
        Transfer(MAIN, POINTER, False, 48, 8, "", 3),
        taken=frozenset({MIDDLE, LEAF, CALLBACK}),
        virtual={LEAF: frozenset({8})},
        reads={MIDDLE: 2, LEAF: 3, CALLBACK: 1},
    )
    search = StaticSearch(graph, BEGIN)
    reaches = {
        function: {height for height in (32, 48) if search.can_reach(function, 64 + height)}
        for function in (MIDDLE, LEAF, CALLBACK)
    }
    assert reaches == {MIDDLE: {48}, LEAF: {48}, CALLBACK: {32, 48}}
    assert StepFinder(graph).from_function(MAIN) == {MIDDLE: {48}, LEAF: {48}, CALLBACK: {32, 48}}


def test_a_search_through_jumps_by_pointers_ends_though_they_can_be_taken_in_any_order() -> None:
    # Each of many functions jumps to any of them: as many orders as there are, and few paths.
    jumpers = tuple(range(0x1000, 0x1000 + 40))
    functions = (MAIN, LEAF, *jumpers)
    transfers = (
        Transfer(MAIN, POINTER, False, 32),
        call(MAIN, LEAF, 64),
        *(Transfer(one, POINTER, True, 0, None, "", at % 7) for at, one in enumerate(jumpers)),
        *(call(one, LEAF, 32) for one in jumpers),
    )
    reads = {one: at % 7 for at, one in enumerate(jumpers)}
    taken = frozenset(jumpers)
    graph = CallGraph(functions, {}, transfers, taken, frozenset(), {}, MAIN, (), (), {}, reads)
    found = StaticSearch(graph, BEGIN).paths(LEAF, 64 + 64, 100)
    assert found.are_all
    assert set(found.paths) == {(MAIN, LEAF), *((MAIN, one, LEAF) for one in jumpers)}


def test_a_pointer_of_which_it_is_known_what_it_holds_leads_there_alone() -> None:
    held = Transfer(MAIN, HELD, False, 32, LEAF)
    graph = graph_of(held, taken=frozenset({LEAF, MIDDLE}))
    search = StaticSearch(graph, BEGIN)
    assert search.can_reach(LEAF, 96)
    assert not search.can_reach(MIDDLE, 96)
    assert StepFinder(graph).from_function(MAIN) == {LEAF: {32}}


def test_a_virtual_function_is_reached_at_its_own_offset_or_where_that_is_not_known() -> None:
    graph = graph_of(
        Transfer(MAIN, POINTER, False, 32, 16),
        Transfer(MAIN, POINTER, False, 48, 8),
        Transfer(MAIN, POINTER, False, 64),
        call(LEAF, OTHER, 16),
        taken=frozenset({MIDDLE, LEAF, CALLBACK}),
        virtual={MIDDLE: frozenset({16}), LEAF: frozenset({8, 24})},
    )
    search = StaticSearch(graph, BEGIN)
    reaches = {
        function: {height for height in (32, 48, 64) if search.can_reach(function, 64 + height)}
        for function in (MIDDLE, LEAF, CALLBACK)
    }
    assert reaches == {MIDDLE: {32, 64}, LEAF: {48, 64}, CALLBACK: {32, 48, 64}}
    assert search.paths(OTHER, 64 + 64, 10).paths == ((MAIN, LEAF, OTHER),)
    assert search.paths(LEAF, 64 + 48, 10).are_all
    steps = StepFinder(graph).from_function(MAIN)
    assert steps == {MIDDLE: {32, 64}, LEAF: {48, 64}, CALLBACK: {32, 48, 64}}


def test_functions_that_no_pointer_can_reach_are_not_reached() -> None:
    graph = graph_of(
        Transfer(MAIN, POINTER, False, 32, 16),
        taken=frozenset({MIDDLE, LEAF}),
        virtual={MIDDLE: frozenset({16}), LEAF: frozenset({8})},
    )
    assert reached(graph, BEGIN, and_varying=False) == {MAIN, MIDDLE}


def test_calls_with_a_height_that_varies_are_left_out_and_counted() -> None:
    graph = graph_of(call(MAIN, MIDDLE, None), call(MIDDLE, LEAF, 16), call(MAIN, OTHER, 16))
    assert not StaticSearch(graph, BEGIN).can_reach(MIDDLE, 80)
    assert reached(graph, BEGIN, and_varying=False) == {MAIN, OTHER}
    assert reached(graph, BEGIN, and_varying=True) == {MAIN, MIDDLE, LEAF, OTHER}


def test_learnt_steps_come_first_and_bring_calls_through_libraries() -> None:
    graph = graph_of(
        Transfer(MAIN, LIBRARY, False, 32, None, "qsort"),
        call(MAIN, LEAF, 96),
        call(CALLBACK, LEAF, 16),
        taken=frozenset({CALLBACK}),
    )
    steps = LearntSteps(
        frozenset(), frozenset({call(MAIN, CALLBACK, 80), call(CALLBACK, LEAF, 16)})
    )
    found = StaticSearch(graph, BEGIN, steps).paths(LEAF, 64 + 96, 10)
    assert found.paths == ((MAIN, CALLBACK, LEAF), (MAIN, LEAF))
    assert found.unlearnt == (0, 1)
    assert StaticSearch(graph, BEGIN).paths(LEAF, 64 + 96, 10).unlearnt == ()


def test_a_limit_is_kept_and_told() -> None:
    graph = graph_of(*(call(MAIN, one, 32) for one in (MIDDLE, CALLBACK, OTHER)),
                     *(call(one, LEAF, 32) for one in (MIDDLE, CALLBACK, OTHER)))  # fmt: skip
    search = StaticSearch(graph, BEGIN)
    few = search.paths(LEAF, 128, 2)
    assert (len(few.paths), few.are_all) == (2, False)
    whole = search.paths(LEAF, 128, 4)
    assert (len(whole.paths), whole.are_all) == (3, True)


def test_deep_recursion_is_searched() -> None:
    graph = graph_of(call(MAIN, MIDDLE, 16), call(MIDDLE, MIDDLE, 16), call(MIDDLE, LEAF, 32))
    depth = 5000
    found = StaticSearch(graph, BEGIN).paths(LEAF, 64 + 16 * depth + 32, 3)
    assert found.paths == ((MAIN, *(MIDDLE,) * depth, LEAF),)


def test_a_stack_too_high_for_the_table_is_told_and_not_searched() -> None:
    search = StaticSearch(graph_of(call(MAIN, LEAF, 8)), BEGIN)
    assert search.paths(LEAF, 8 * MOST_CELLS, 10).is_too_high


def forward_paths(
    graph: CallGraph, begin: Beginning, most_bytes: int
) -> dict[tuple[int, int], set[tuple[int, ...]]]:
    """All paths up to a height, by their key; without jumps."""
    found: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    waiting = [((begin.function,), begin.height_bytes)]
    while waiting:
        path, height = waiting.pop()
        found.setdefault((path[-1], height), set()).add(path)
        for one in graph.transfers:
            if one.caller != path[-1] or one.height_bytes is None:
                continue
            targets = graph.taken if one.kind == POINTER else {one.callee}
            if height + one.height_bytes <= most_bytes:
                waiting += [((*path, to), height + one.height_bytes) for to in targets if to]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_have_the_paths_that_an_enumeration_finds(seed: int) -> None:
    draw = Random(seed)
    functions = (MAIN, MIDDLE, LEAF, CALLBACK, OTHER)
    transfers = {
        Transfer(draw.choice(functions), kind, False, 16 * draw.randint(1, 4),
                 draw.choice(functions) if kind == FUNCTION else None)
        for kind in draw.choices((FUNCTION, FUNCTION, POINTER), k=7)
    }  # fmt: skip
    taken = frozenset(draw.sample(functions, 2))
    graph = graph_of(*sorted(transfers, key=repr), taken=taken)
    most = 64 + 16 * 9
    wanted = forward_paths(graph, BEGIN[0], most)
    search = StaticSearch(graph, BEGIN)
    for function in functions:
        for height in range(64, most + 1, 16):
            paths = search.paths(function, height, 100_000)
            assert paths.are_all
            assert set(paths.paths) == wanted.get((function, height), set())
            assert list(map(len, paths.paths)) == sorted(map(len, paths.paths))


def test_paths_are_the_same_whatever_was_searched_before() -> None:
    random = Random(7)
    functions = (MAIN, MIDDLE, LEAF, CALLBACK, OTHER)
    graph = graph_of(
        *(
            call(random.choice(functions), random.choice(functions), random.choice((16, 32, 48)))
            for _ in range(30)
        )
    )
    search = StaticSearch(graph, BEGIN)
    for _ in range(200):
        key = random.choice(functions), 64 + 16 * random.randrange(20)
        limit = random.choice((1, 2, 5, 40))
        assert search.paths(*key, limit) == StaticSearch(graph, BEGIN).paths(*key, limit)
