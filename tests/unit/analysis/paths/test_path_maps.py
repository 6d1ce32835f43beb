"""Path maps: what they hold of runs, and what they resolve."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_check import judged
from steelyard.analysis.paths.path_map import (
    ROOT,
    PathMap,
    PathNode,
    PathNumbers,
    functions_of,
    merged,
    merged_nodes,
)
from steelyard.analysis.paths.path_outcomes import CANDIDATE_LIMITS
from steelyard.core.errors import DataError

# Functions by their addresses.
MAIN, A, B, D = 1, 2, 3, 4


def map_of(*nodes: PathNode, build: str = "one") -> PathMap:
    names = {node.function: f"f{node.function}" for node in nodes}
    return PathMap("program", build, 1, names, {}, nodes)


def abd(order: str, calls: int) -> tuple[PathNode, ...]:
    """main, then A and B in an order, with frames of 16 and 32 bytes, then D."""
    first, second = (A, B) if order == "AB" else (B, A)
    height = 100 + (16 if first == A else 32)
    return (
        PathNode(ROOT, MAIN, 100, 1),
        PathNode(0, first, height, calls),
        PathNode(1, second, 148, calls),
        PathNode(2, D, 156, calls),
    )


def test_paths_of_the_same_functions_in_another_order_are_ambiguous_as_in_figure_5_4():
    nodes = merged_nodes([abd("AB", 3), abd("BA", 1)])
    check = judged(map_of(*nodes))
    assert check.offline.path_count == 7
    assert check.offline.key_count == 6
    assert check.offline.paths.resolved == pytest.approx(5 / 7)
    assert check.offline.paths.ambiguous == pytest.approx(2 / 7)
    # D was called four times, by either path.
    assert check.offline.calls.ambiguous == pytest.approx(4 / 14)
    assert check.offline.calls.most_frequent == pytest.approx(13 / 14)
    assert check.offline.paths.by_candidates[CANDIDATE_LIMITS.index(2)] == 1


def test_the_distribution_of_candidates_is_of_what_has_its_path_among_them():
    nodes = merged_nodes([abd("AB", 3), abd("BA", 1)])
    paths = judged(map_of(*nodes)).offline.paths
    assert [count for count, _ in paths.by_count] == [1, 2]
    assert [share for _, share in paths.by_count] == pytest.approx([5 / 7, 2 / 7])
    assert paths.most_candidates(0.7) == 1
    assert paths.most_candidates(0.99) == 2
    assert paths.most_candidates(1.0) == 2


def test_what_is_never_right_has_no_number_of_candidates():
    other = (PathNode(ROOT, D, 900, 1),)
    online = judged(map_of(*abd("AB", 1)), map_of(*other)).online
    assert online is not None
    assert online.paths.by_count == ()
    assert online.paths.most_candidates(0.99) is None


def test_other_runs_are_resolved_wrong_and_missing():
    learnt = map_of(*abd("AB", 1))
    new_height = (PathNode(ROOT, MAIN, 100, 1), PathNode(0, D, 108, 1))
    evaluation = map_of(*merged_nodes([abd("BA", 2), new_height]))
    online = judged(learnt, evaluation).online
    assert online is not None
    # main is known; the D of B and A has the key of another path; B and A and the new D have none.
    assert online.path_count == 5
    assert online.paths.resolved == pytest.approx(1 / 5)
    assert online.paths.wrong == pytest.approx(1 / 5)
    assert online.paths.missing == pytest.approx(3 / 5)
    assert online.calls.wrong == pytest.approx(2 / 9)


def test_a_path_of_several_heights_counts_as_one_path():
    nodes = (
        PathNode(ROOT, MAIN, 100, 1),
        PathNode(0, A, 116, 1),
        PathNode(0, A, 132, 9),
        PathNode(0, B, 132, 1),
    )
    check = judged(map_of(*nodes))
    assert check.offline.path_count == 3
    assert check.offline.key_count == 4
    assert check.offline.paths.resolved == 1


def test_merging_adds_calls_and_keeps_what_either_had():
    both = merged(map_of(*abd("AB", 3)), map_of(*abd("BA", 1)))
    assert both.run_count == 2
    assert both.call_count == 14
    assert len(set(PathNumbers().of(both.nodes))) == 7
    assert merged(both, map_of(*abd("AB", 5))).nodes[3].call_count == 8


def test_a_map_of_another_build_is_refused():
    with pytest.raises(DataError, match="another build of program"):
        merged(map_of(*abd("AB", 1)), map_of(*abd("AB", 1), build="two"))
    with pytest.raises(DataError, match="another build"):
        judged(map_of(*abd("AB", 1)), map_of(*abd("AB", 1), build="two"))


def test_a_node_tells_its_functions_from_the_innermost_out():
    assert list(functions_of(map_of(*abd("BA", 1)), 3)) == [D, A, B, MAIN]


def test_numbers_of_paths_are_the_same_in_trees_of_another_order():
    numbers = PathNumbers()
    forward = numbers.of(merged_nodes([abd("AB", 1), abd("BA", 1)]))
    backward = numbers.of(merged_nodes([abd("BA", 1), abd("AB", 1)]))
    assert sorted(forward) == sorted(backward)
    assert forward[4:] == backward[1:4]


def twice_called(call_sites: dict[int, str] | None, *sites: int) -> PathMap:
    """main, which calls A by some calls."""
    nodes = [PathNode(ROOT, MAIN, 100, 1), *(PathNode(0, A, 116, 1, site) for site in sites)]
    return replace(map_of(*merged_nodes([nodes])), call_sites=call_sites)


def test_paths_differ_by_their_call_sites_where_a_map_has_them():
    check = judged(twice_called({10: "p.c:1", 20: "p.c:2"}, 10, 20, 20))
    assert check.offline.path_count == 3
    assert check.offline.key_count == 2
    assert check.offline.paths.ambiguous == pytest.approx(2 / 3)
    assert check.offline.calls.most_frequent == pytest.approx(3 / 4)
    assert judged(twice_called(None, 0, 0, 0)).offline.paths.resolved == 1


def test_maps_with_call_sites_grow_by_others_with_them_alone():
    first, second = twice_called({10: "p.c:1"}, 10), twice_called({10: "p.c:1", 20: ""}, 20, 10)
    both = merged(first, second)
    assert both.call_sites == {10: "p.c:1", 20: ""}
    assert [(node.call_site, node.call_count) for node in both.nodes[1:]] == [(10, 2), (20, 1)]
    for one, other in ((first, twice_called(None, 0)), (twice_called(None, 0), first)):
        with pytest.raises(DataError, match="call sites, and the paths beside it have"):
            merged(one, other)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ({10: "p.c:1", 20: "p.c:2"}, {"f1@p.c:1", "f1@p.c:2"}),
        ({10: "p.c:1", 20: "p.c:1"}, {"f1@p.c:1+0x9", "f1@p.c:1+0x13"}),
        ({10: "", 20: "p.c:1"}, {"f1+0x9", "f1@p.c:1"}),
    ],
)
def test_a_call_site_is_shown_by_its_line_or_by_where_it_is(names, shown):
    found = KeyedPaths(twice_called(names, 10, 20), {}).candidates(A, 116)
    assert {one.functions[0] for one in found} == shown
    assert {one.functions[1] for one in found} == {"f2"}
