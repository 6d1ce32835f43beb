"""Heights below functions that align their stack, for each place where the stack may begin."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_check import judged
from steelyard.analysis.paths.path_map import (
    ROOT,
    Alignment,
    PathMap,
    PathNode,
    functions_of,
    merged,
)
from steelyard.analysis.paths.path_marks import ANY_MARK
from steelyard.analysis.paths.stack_alignment import known_alignment, moved
from steelyard.core.errors import DataError

MAIN, F, G, LEAF = 1, 2, 3, 4
NAMES = {MAIN: "main", F: "f", G: "g", LEAF: "leaf"}
# Calls: each function with the one above it. F aligns to 32 bytes, and G below it to 64.
CALLS = ((ROOT, MAIN, 0), (0, F, 48), (1, LEAF, 80), (1, G, 112), (3, LEAF, 32), (0, LEAF, 144))
ALIGNING = {F: Alignment(32, 16), G: Alignment(64, 24)}


def executed(start: int) -> list[PathNode]:
    """The paths as a processor takes them: it clears bits of the stack pointer."""
    nodes: list[PathNode] = []
    frames: list[int] = []
    below: list[int] = []
    for parent, function, used in CALLS:
        above = start - 16 if parent == ROOT else below[parent]
        frame = above - used
        alignment = ALIGNING.get(function)
        frames.append(frame)
        if alignment is None or alignment.depth_bytes is None:
            below.append(frame)
        else:
            pointer = frame - alignment.depth_bytes
            below.append(pointer & -alignment.alignment_bytes)
        nodes.append(PathNode(parent, function, start - frame, 1))
    return nodes


def map_of(nodes, aligning=ALIGNING):
    return PathMap("p", "ab", 1, NAMES, {}, nodes, aligning=aligning)


@pytest.mark.parametrize("start", range(4096, 4096 + 64, 16))
def test_what_was_learnt_on_one_stack_has_the_heights_of_each_other(start):
    for other in range(8192, 8192 + 64, 16):
        assert moved(executed(start), ALIGNING, start, other) == executed(other)


def test_a_key_has_the_path_that_led_to_it_on_its_stack():
    learnt = map_of(moved(executed(4112), ALIGNING, 4112, 0))
    keyed = KeyedPaths(learnt, {})
    assert keyed.modulus_bytes == 64
    for start in range(8192, 8192 + 64, 16):
        for end, node in enumerate(executed(start)):
            found = keyed.candidates(node.function, node.height_bytes, ANY_MARK, start % 64)
            path = tuple(NAMES[one] for one in reversed(tuple(functions_of(learnt, end))))
            assert path in {one.functions for one in found}


def test_a_key_on_a_stack_that_is_not_known_has_the_paths_of_all():
    keyed = KeyedPaths(map_of(executed(0)), {})
    for start in range(0, 64, 16):
        for node in executed(start):
            here = keyed.candidates(node.function, node.height_bytes, ANY_MARK, start)
            anywhere = keyed.candidates(node.function, node.height_bytes)
            assert {one.functions for one in here} <= {one.functions for one in anywhere}


def test_functions_below_an_alignment_that_is_not_known_have_no_keys_anywhere():
    unknown = {**ALIGNING, G: known_alignment(128, 24)}
    keyed = KeyedPaths(map_of(executed(0), unknown), {})
    heights = {node.function: node.height_bytes for node in executed(0)}
    assert keyed.candidates(LEAF, heights[LEAF]) == ()
    assert keyed.candidates(LEAF, executed(0)[5].height_bytes, ANY_MARK, 0) == ()
    assert [one.functions for one in keyed.candidates(F, heights[F])] == [("main", "f")]
    assert keyed.untold == {LEAF: G}


def test_another_environment_is_judged_as_the_same_one():
    learnt, other = (map_of(moved(executed(at), ALIGNING, at, 0)) for at in (4112, 4144))
    found = judged(learnt, other).online
    assert found is not None
    assert (found.paths.wrong, found.paths.missing) == (0, 0)
    assert found.path_count == len(CALLS)


def test_maps_of_several_environments_are_one_map():
    maps = [map_of(moved(executed(at), ALIGNING, at, 0)) for at in (16, 32, 64)]
    assert len(merged(merged(maps[0], maps[1]), maps[2]).nodes) == len(CALLS)


def test_an_alignment_that_one_run_cannot_follow_is_followed_in_none():
    unknown = {F: Alignment(32, None)}
    both = merged(map_of(executed(0)), map_of(executed(0), unknown))
    assert both.aligning == {**ALIGNING, **unknown}


def test_a_map_without_alignments_is_not_mixed_with_one_that_has_some():
    old = replace(map_of(executed(0)), aligning=None)
    with pytest.raises(DataError, match="did not follow aligned stacks"):
        merged(old, map_of(executed(0)))
    assert merged(old, map_of(executed(0), {})).aligning == {}


def test_nodes_on_other_stacks_stay_without_height():
    chance = random.Random(1)
    nodes = [
        node if chance.random() < 0.5 else node._replace(height_bytes=0) for node in executed(16)
    ]
    found = moved(nodes, ALIGNING, 16, 48)
    assert [one.height_bytes == 0 for one in found] == [one.height_bytes == 0 for one in nodes]
