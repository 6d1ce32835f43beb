"""Learnt paths beside those that code allows."""

from __future__ import annotations

from steelyard.analysis.paths.call_graph import (
    FUNCTION,
    LIBRARY,
    POINTER,
    Beginning,
    CallGraph,
    Transfer,
    Underneath,
    learnt_steps,
)
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.static_truth import (
    CALLED_BACK,
    ELSEWHERE,
    NO_CALL,
    OTHER_HEIGHT,
    STARTED,
    static_truth,
)

MAIN, LEAF, TAKEN, VARYING, COLD = 1, 2, 3, 4, 5
GRAPH = CallGraph(
    functions=(MAIN, LEAF, TAKEN, VARYING),
    parts={COLD: MAIN},
    transfers=(
        Transfer(MAIN, FUNCTION, False, 32, LEAF),
        Transfer(MAIN, FUNCTION, False, 48, VARYING),
        Transfer(VARYING, FUNCTION, False, None, LEAF),
        Transfer(LEAF, POINTER, True, 0),
        Transfer(MAIN, LIBRARY, False, 32, None, "pthread_create"),
    ),
    taken=frozenset({TAKEN}),
    exported=frozenset(),
    varying={VARYING: "it aligns its stack"},
    first=MAIN,
    initial=(),
    final=(),
)
BEGIN = [Beginning(MAIN, 64)]


def map_of(*nodes: PathNode) -> PathMap:
    return PathMap("program", "build", 1, {}, {}, nodes)


def reasons_of(*nodes: PathNode) -> dict[str, int]:
    found = static_truth(map_of(*nodes), GRAPH, BEGIN, {VARYING: "varying"})
    assert found.allowed_count == found.path_count - sum(count for _, count in found.reasons)
    return dict(found.reasons)


def test_paths_with_calls_of_the_code_are_allowed_also_by_parts_and_jumps() -> None:
    main = PathNode(ROOT, MAIN, 64, 1)
    assert reasons_of(main, PathNode(0, LEAF, 96, 1)) == {}
    assert reasons_of(PathNode(ROOT, COLD, 64, 1), PathNode(0, LEAF, 96, 1)) == {}
    # LEAF jumps to whatever a pointer holds.
    assert reasons_of(main, PathNode(0, TAKEN, 96, 1)) == {}


def test_each_other_path_has_the_reason_of_its_outermost_step_that_is_not_allowed() -> None:
    main = PathNode(ROOT, MAIN, 64, 1)
    assert reasons_of(PathNode(ROOT, TAKEN, 80, 1)) == {STARTED: 1}
    assert reasons_of(main, PathNode(0, TAKEN, 112, 1), PathNode(1, MAIN, 999, 1)) == {
        CALLED_BACK: 2
    }
    assert reasons_of(main, PathNode(0, LEAF, 97, 1)) == {OTHER_HEIGHT: 1}
    assert reasons_of(main, PathNode(0, LEAF, 96, 1), PathNode(1, MAIN, 128, 1)) == {NO_CALL: 1}
    varying = "the frame of varying varies: it aligns its stack"
    assert reasons_of(main, PathNode(0, VARYING, 112, 1), PathNode(1, LEAF, 160, 1)) == {varying: 1}


def test_a_path_on_another_stack_is_not_counted_and_what_it_calls_has_that_reason() -> None:
    main = PathNode(ROOT, MAIN, 64, 1)
    found = static_truth(map_of(main, PathNode(0, TAKEN, 0, 1)), GRAPH, BEGIN, {})
    assert (found.path_count, found.allowed_count) == (1, 1)
    assert reasons_of(main, PathNode(0, TAKEN, 0, 1), PathNode(1, LEAF, 64, 1)) == {ELSEWHERE: 1}


def test_a_program_that_starts_threads_may_begin_with_what_has_its_address_taken() -> None:
    assert GRAPH.beginnings(Underneath(64, 48, 160)) == [
        Beginning(MAIN, 64),
        Beginning(TAKEN, 160),
    ]


def test_steps_of_learnt_paths_are_between_whole_functions() -> None:
    steps = learnt_steps(map_of(PathNode(ROOT, COLD, 64, 1), PathNode(0, TAKEN, 176, 1)), GRAPH)
    assert steps.beginnings == {Beginning(MAIN, 64)}
    assert steps.transfers == {Transfer(MAIN, FUNCTION, False, 112, TAKEN)}
