"""Maps that recordings make of themselves."""

from __future__ import annotations

from dataclasses import replace

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_map import NO_HEIGHT, PathMap
from steelyard.analysis.paths.self_learning import self_learnt
from steelyard.analysis.paths.stack_alignment import Key

EMPTY = PathMap("p", "ab", 1, {1: "main", 2: "f", 3: "leaf"}, {}, ())


def test_a_key_has_the_paths_of_its_stacks_with_their_shares():
    chains = [(1, 3), (1, 3), (1, 2, 3), (1, 3)]
    found = self_learnt(EMPTY, [Key(3, 64)] * 4, chains)
    keyed = KeyedPaths(found.path_map, {})
    assert [(one.functions, one.share) for one in keyed.candidates(3, 64)] == [
        (("main", "leaf"), 0.75),
        (("main", "f", "leaf"), 0.25),
    ]
    # What lies between has no height: nobody sampled it.
    assert keyed.candidates(2, NO_HEIGHT) == ()


def test_a_key_is_checked_again_once_it_is_believed_and_may_turn_out_wrong():
    keys = [Key(3, 64)] * 6 + [Key(3, 96), "in a library"]
    chains = [(1, 3)] * 5 + [(1, 2, 3)] + [(1, 3)] + [(1, 3)]
    found = self_learnt(EMPTY, keys, chains)
    assert (found.walk_count, found.check_count, found.wrong_count) == (7, 3, 1)


def test_stacks_that_were_not_walked_to_their_end_teach_nothing():
    found = self_learnt(EMPTY, [Key(3, 64)], [()])
    assert (found.walk_count, len(found.path_map.nodes)) == (0, 0)


def test_a_height_says_its_path_for_stacks_that_begin_alike_alone_where_functions_align_them():
    keys = [Key(3, 64, residue_bytes=16), Key(3, 64, residue_bytes=48)] * 2
    empty = replace(EMPTY, stack_residues=())
    keyed = KeyedPaths(self_learnt(empty, keys, [(1, 3), (1, 2, 3)] * 2).path_map, {})
    found = [[one.functions for one in keyed.candidates(*key)] for key in keys[:2]]
    assert found == [[("main", "leaf")], [("main", "f", "leaf")]]
    assert keyed.candidates(*Key(3, 64, residue_bytes=0)) == ()
