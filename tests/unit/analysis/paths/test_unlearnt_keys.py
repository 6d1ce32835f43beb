"""Of the paths that code allows for a key, what the value of a thread leaves."""

from __future__ import annotations

from steelyard.analysis.paths.call_graph import (
    FUNCTION,
    HELD,
    Beginning,
    CallGraph,
    LearntSteps,
    Transfer,
    without_calls,
)
from steelyard.analysis.paths.path_map import ROOT, PathNode
from steelyard.analysis.paths.path_marks import ANY_MARK, NO_MARK, mark_value, node_marks
from steelyard.analysis.paths.static_search import StaticPaths, StaticSearch
from steelyard.analysis.paths.unlearnt_keys import MOST_PATHS, UnlearntKeys

MAIN, LEFT, RIGHT, LEAF = 0x100, 0x200, 0x300, 0x400
NUMBERS = {(MAIN, LEFT): 11, (MAIN, RIGHT): 13}
START = 0x7FFF0000


def graph_of(more: tuple[Transfer, ...] = ()) -> CallGraph:
    calls = ((MAIN, LEFT), (MAIN, RIGHT), (LEFT, LEAF), (RIGHT, LEAF))
    transfers = (*(Transfer(one, FUNCTION, False, 32, other) for one, other in calls), *more)
    functions = (MAIN, LEFT, RIGHT, LEAF)
    return CallGraph(functions, {}, transfers, frozenset(), frozenset(), {}, MAIN, (), ())


def keys(
    by_address: tuple[int, ...] = (), more: tuple[Transfer, ...] = (), **unknown: tuple[int, ...]
) -> UnlearntKeys:
    search = StaticSearch(graph_of(more), [Beginning(MAIN, 64)])
    return UnlearntKeys(search, NUMBERS, by_address, **unknown)


def mark_of(*functions: int) -> int:
    nodes = [
        PathNode(at - 1 if at else ROOT, one, 64 + 32 * at, 0) for at, one in enumerate(functions)
    ]
    return node_marks(nodes, NUMBERS)[-1]


def test_a_mark_leaves_the_path_that_has_it():
    for way in (LEFT, RIGHT):
        found = keys().of_mark(LEAF, 128, mark_of(MAIN, way, LEAF))
        assert found.candidates == ((MAIN, way, LEAF),)


def test_a_thread_whose_value_is_not_known_leaves_all_paths():
    found = keys().of_mark(LEAF, 128, ANY_MARK)
    assert set(found.candidates) == {(MAIN, LEFT, LEAF), (MAIN, RIGHT, LEAF)}


def test_a_value_that_no_path_has_leaves_none():
    assert keys().of_mark(LEAF, 128, NO_MARK).candidates == ()
    assert keys().of_mark(LEAF, 128, mark_of(MAIN, LEFT, LEAF) + 1).candidates == ()


def test_a_value_is_compared_for_the_start_of_its_stack():
    value = mark_value(mark_of(MAIN, LEFT, LEAF), START)
    chains = [
        keys().that_carry(LEAF, 128, lambda mark, at=at: mark_value(mark, at) == value).chains
        for at in (START, START + 16)
    ]
    assert chains == [((MAIN, LEFT, LEAF),), ()]


def test_a_function_that_may_come_by_an_address_may_come_without_its_mark():
    found = keys(by_address=(RIGHT,)).of_mark(LEAF, 128, NO_MARK)
    assert found.candidates == ((MAIN, RIGHT, LEAF),)
    found = keys(by_address=(RIGHT,)).of_mark(LEAF, 128, mark_of(MAIN, RIGHT, LEAF))
    assert found.candidates == ((MAIN, RIGHT, LEAF),)


def test_a_key_with_more_paths_than_are_searched_has_no_candidates():
    # Two ways of the same height at each of many steps.
    more = tuple(
        Transfer(one, FUNCTION, False, 32, other)
        for one in (LEFT, RIGHT)
        for other in (LEFT, RIGHT)
    )
    found = keys(more=more).of_mark(LEAF, 64 + 32 * 12, ANY_MARK)
    assert len(found.chains) == MOST_PATHS
    assert not found.are_all
    assert found.candidates == ()


def test_of_a_thread_that_carries_nothing_paths_by_marked_calls_are_not_counted():
    # One path without a mark, and more than are searched with some.
    more = tuple(
        Transfer(one, FUNCTION, False, 32, other)
        for one in (LEFT, RIGHT)
        for other in (LEFT, RIGHT)
    )
    height = 64 + 32 * 12
    unmarked = Transfer(MAIN, HELD, False, height - 64, LEAF)
    graph, begins = graph_of((*more, unmarked)), [Beginning(MAIN, 64)]
    search = StaticSearch(graph, begins)
    assert UnlearntKeys(search, NUMBERS).of_mark(LEAF, height, NO_MARK).candidates == ()
    without = StaticSearch(without_calls(graph, NUMBERS), begins)
    found = UnlearntKeys(search, NUMBERS, unmarked=without)
    assert found.of_mark(LEAF, height, NO_MARK).candidates == ((MAIN, LEAF),)
    assert found.that_carry(LEAF, height, lambda mark: mark == NO_MARK).candidates == (
        (MAIN, LEAF),
    )
    assert found.of_mark(LEAF, height, ANY_MARK).candidates == ()


def test_a_graph_without_marked_calls_keeps_what_is_called_by_pointers_and_jumps():
    kept = (Transfer(MAIN, HELD, False, 32, LEFT), Transfer(MAIN, FUNCTION, True, 0, LEFT))
    found = without_calls(graph_of(kept), NUMBERS)
    assert {one for one in found.transfers if one.caller == MAIN} == set(kept)
    steps = LearntSteps(frozenset(), frozenset(graph_of().transfers))
    left = steps.without_calls({(MAIN, LEFT)}).transfers
    assert {(one.caller, one.callee) for one in left} == {
        (MAIN, RIGHT),
        (LEFT, LEAF),
        (RIGHT, LEAF),
    }


def test_a_key_that_may_come_by_a_frame_of_another_size_has_no_candidates():
    mark = mark_of(MAIN, LEFT, LEAF)
    for unknown in ({"of_any_height": (LEAF,)}, {"varying": (LEFT,)}):
        assert keys(**unknown).of_mark(LEAF, 128, mark).candidates == ()
    assert keys(varying=(RIGHT,)).of_mark(LEAF, 128, mark).candidates == ((MAIN, LEFT, LEAF),)


class Endless(StaticSearch):
    """Follows many ways and finds nothing."""

    def __init__(self) -> None:
        self.searched: list[int] = []

    def paths(self, function: int, height_bytes: int, limit: int) -> StaticPaths:
        self.searched.append(height_bytes)
        return StaticPaths(function, height_bytes, (), (), (), are_all=False)


def test_searches_that_find_nothing_end_too():
    search = Endless()
    found = UnlearntKeys(search, {})
    for height in range(0, 16_000, 16):
        assert found.of_mark(LEAF, height, ANY_MARK).candidates == ()
    assert 10 < len(search.searched) < 100
    assert search.searched == sorted(set(search.searched))
