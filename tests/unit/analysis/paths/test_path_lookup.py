"""The paths that a key may mean."""

from __future__ import annotations

from steelyard.analysis.paths.lookup import candidates
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode

# `leaf` is called by `main` and by `f`, at one height; 9 is a part of it that lies elsewhere.
NODES = (
    PathNode(ROOT, 1, 16, 1),
    PathNode(0, 2, 48, 2),
    PathNode(0, 3, 64, 3),
    PathNode(1, 3, 64, 1),
    PathNode(1, 9, 96, 0),
)
NAMES = {1: "main", 2: "[p]", 3: "leaf", 9: "leaf"}
MAP = PathMap("p", "ab", 1, NAMES, {}, NODES)


def test_an_ambiguous_key_has_its_paths_with_their_learnt_shares():
    found = candidates(MAP, frozenset({3}), 64)
    assert [(each.functions, each.share) for each in found] == [
        (("main", "leaf"), 0.75),
        (("main", "[p]+0x2", "leaf"), 0.25),
    ]


def test_a_function_is_found_by_each_of_its_parts():
    (found,) = candidates(MAP, frozenset({3, 9}), 96)
    assert found.functions == ("main", "[p]+0x2", "leaf")
    assert found.share == 1


def test_a_height_that_was_never_learnt_has_no_paths():
    assert candidates(MAP, frozenset({3}), 65) == ()
