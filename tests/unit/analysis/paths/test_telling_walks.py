"""Paths of ambiguous keys, by stacks that were walked as far as tells."""

from __future__ import annotations

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_map import NO_HEIGHT, ROOT, PathMap, PathNode
from steelyard.analysis.paths.stack_alignment import Key
from steelyard.analysis.paths.telling_walks import OTHER_STACK, told_paths

# `leaf` (4) is called at one height by `f` (2) and by `g` (3), and `g` by `main` (1) and by `f`.
NODES = (
    PathNode(ROOT, 1, 16, 1),
    PathNode(0, 2, NO_HEIGHT, 0),
    PathNode(0, 3, NO_HEIGHT, 0),
    PathNode(1, 3, NO_HEIGHT, 0),
    PathNode(1, 4, 64, 3),
    PathNode(2, 4, 64, 1),
    PathNode(3, 4, 64, 2),
)
NAMES = {1: "main", 2: "f", 3: "g", 4: "leaf"}
KEYED = KeyedPaths(PathMap("p", "ab", 1, NAMES, {}, NODES), {40: 4})
KEY = Key(4, 64)


def told(*chains, key=KEY):
    return told_paths(KEYED, [key] * len(chains), chains, [len(chain) for chain in chains])


def names(found):
    return [one.functions for one in found]


def test_the_keys_that_mean_several_paths_are_named_with_those():
    assert list(KEYED.ambiguous()) == [(4, 64, {(1, 2, 4), (1, 3, 4), (1, 2, 3, 4)})]


def test_the_end_of_a_path_tells_it():
    found = told((2, 4), (1, 3, 4), (2, 3, 4))
    assert list(map(names, found.candidates)) == [
        [("main", "f", "leaf")],
        [("main", "g", "leaf")],
        [("main", "f", "g", "leaf")],
    ]
    assert all(one[0].share == 1 for one in found.candidates)
    assert (found.walks.walk_count, found.walks.told_count, found.walks.frame_count) == (3, 3, 8)


def test_a_walk_that_ended_too_early_leaves_several_with_their_shares():
    found = told((3, 4))
    assert {one.functions: one.share for one in found.candidates[0]} == {
        ("main", "g", "leaf"): 1 / 3,
        ("main", "f", "g", "leaf"): 2 / 3,
    }
    assert found.walks.told_count == 0


def test_a_stack_with_none_of_the_paths_says_so():
    found = told((1, 4), (2, 4))
    assert found.candidates[0] == ()
    assert found.keys == [OTHER_STACK, KEY]
    assert (found.walks.foreign_count, found.walks.told_count) == (1, 1)


def test_a_sample_without_a_walk_keeps_what_its_key_says():
    found = told((), key=KEY)
    assert len(found.candidates[0]) == 3
    assert found.walks.walk_count == 0
    assert told((1,), key=(1, 16, 0)).walks.walk_count == 0
    assert told((), key="in a library").keys == ["in a library"]
