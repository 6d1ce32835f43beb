"""Sizes of frames and wrapped calls that tell call paths apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from steelyard.analysis.paths.height_steps import StepCounts, height_steps
from steelyard.analysis.paths.marked_calls import marked_calls
from steelyard.analysis.paths.path_keys import PathKeys
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode, functions_of, merged_nodes
from steelyard.analysis.paths.path_order import path_order
from steelyard.analysis.paths.resizing import ResizingRules, calls_learnt, resized
from steelyard.analysis.paths.separation_search import GRAIN_BYTES, SearchRules, separate

MAIN, A, B, D, E = 1, 2, 3, 4, 5


def map_of(*paths: tuple[int, ...], frame_bytes: int = 32) -> PathMap:
    """All functions with frames of the same size; a call of each path, and of what leads to it."""
    trees = [
        [
            PathNode(depth - 1, function, 64 + frame_bytes * depth, 1)
            for depth, function in enumerate(path)
        ]
        for path in paths
    ]
    nodes = merged_nodes(trees)
    return PathMap("p", "b", 1, {node.function: f"f{node.function}" for node in nodes}, {}, nodes)


def random_map(seed: int, count: int) -> PathMap:
    """A tree in which functions have sizes of their own, some more than one."""
    draw = np.random.default_rng(seed)
    nodes: list[PathNode] = []
    for index in range(count):
        parent = int(draw.integers(-1, index)) if index else ROOT
        function = int(draw.integers(1, 12))
        below = 0 if parent == ROOT else nodes[parent].height_bytes
        caller = 0 if parent == ROOT else nodes[parent].function
        height = below + 16 + 16 * (caller % 3) + 16 * int(draw.integers(20) == 0)
        nodes.append(PathNode(parent, function, height, 1))
    merged = merged_nodes([nodes])
    names = {node.function: f"f{node.function}" for node in merged}
    return PathMap("p", "b", 1, names, {}, merged)


def one_path_keys(path_map: PathMap) -> int:
    """Keys with one path, by the plainest way there is."""
    paths: defaultdict[tuple[int, int], set[tuple[int, ...]]] = defaultdict(set)
    for index, node in enumerate(path_map.nodes):
        paths[node.function, node.height_bytes].add(tuple(functions_of(path_map, index)))
    return sum(len(found) == 1 for found in paths.values())


def test_a_larger_frame_of_e_tells_the_paths_of_figure_5_3_apart():
    found = resized(map_of((MAIN, B, A, D), (MAIN, B, E, D)), ResizingRules(1, budget_ratio=2))
    assert found.before.paths.ambiguous == pytest.approx(2 / 6)
    assert found.after.paths.resolved == 1
    assert set(found.frame_bytes) in ({A}, {E})
    assert found.separation.ended_by == "most"


def test_frames_never_tell_the_paths_of_figure_5_4_apart_but_a_wrapped_call_does():
    path_map = map_of((MAIN, B, A, D), (MAIN, A, B, D))
    found = resized(path_map, ResizingRules(1, budget_ratio=100, goal=1))
    assert found.separation.after_count == found.separation.most_count == 5
    assert found.separation.ended_by == "most"
    assert found.frame_bytes == {}
    wrapped = resized(path_map, ResizingRules(1, frames={}, wraps_calls=True, budget_ratio=2))
    assert wrapped.after.paths.resolved == 1
    assert len(wrapped.call_bytes) == 1


def test_neither_tells_the_paths_of_figure_5_5_apart():
    path_map = map_of((MAIN, A, B, A, A, D), (MAIN, A, A, B, A, D))
    found = resized(path_map, ResizingRules(1, wraps_calls=True, budget_ratio=100, goal=1))
    ends = [node for node in found.path_map.nodes if node.function == D]
    assert len({node.height_bytes for node in ends}) == 1
    assert found.separation.ended_by == "most"


@pytest.mark.parametrize(
    "paths",
    [
        ((MAIN, B, A, D), (MAIN, B, E, D)),
        ((MAIN, B, A, D), (MAIN, A, B, D)),
        ((MAIN, A, B, A, A, D), (MAIN, A, A, B, A, D)),
    ],
)
def test_marked_calls_tell_the_paths_of_figures_5_3_to_5_5_apart(paths):
    found = marked_calls(map_of(*paths), 1)
    assert found.exact_share == 1
    assert 1 <= len(found.calls) <= 2
    assert found.passed_share < 1


@pytest.mark.parametrize("seed", range(6))
def test_marked_calls_make_every_path_exact_and_none_is_needless(seed):
    path_map = random_map(seed, 400)
    found = marked_calls(path_map, seed)
    assert found.exact_share == 1
    assert keys_with_marks(path_map, found.calls) == 0
    for call in found.calls:
        assert keys_with_marks(path_map, set(found.calls) - {call}) > 0


def counted_map(*paths: tuple[tuple[int, int], ...]) -> PathMap:
    """Functions with frames of the same size, and how often each was called on a path."""
    trees = [
        [
            PathNode(depth - 1, function, 64 + 32 * depth, count)
            for depth, (function, count) in enumerate(path)
        ]
        for path in paths
    ]
    names = {function: str(function) for path in paths for function, _ in path}
    return PathMap("program", "build", 1, names, {}, merged_nodes(trees))


def test_a_call_that_both_paths_have_at_other_heights_is_marked_where_it_is_passed_least():
    first = ((MAIN, 1), (A, 900), (B, 900), (D, 1), (E, 900))
    second = ((MAIN, 1), (B, 900), (D, 1), (A, 900), (E, 900))
    found = marked_calls(counted_map(first, second), 1)
    assert found.calls == ((B, D),)
    assert found.exact_share == 1


def test_one_call_takes_the_place_of_two_that_are_passed_more_together():
    left, right, f, g = 11, 12, 13, 14
    found = marked_calls(
        counted_map(
            ((MAIN, 1), (left, 8), (f, 5)),
            ((MAIN, 0), (right, 100), (f, 50)),
            ((MAIN, 0), (left, 0), (g, 5)),
            ((MAIN, 0), (right, 0), (g, 50)),
        ),
        1,
    )
    assert found.calls == ((MAIN, left),)
    assert found.exact_share == 1


def keys_with_marks(path_map: PathMap, marked: Collection[tuple[int, int]]) -> int:
    """Keys of several paths, where marked calls and their heights are part of a key, in order."""
    paths: defaultdict[object, set[tuple[int, ...]]] = defaultdict(set)
    for index, node in enumerate(path_map.nodes):
        seen: list[tuple[tuple[int, int], int]] = []
        at = index
        while at != ROOT:
            one = path_map.nodes[at]
            caller = ROOT if one.parent == ROOT else path_map.nodes[one.parent].function
            if (caller, one.function) in marked:
                seen.append(((caller, one.function), one.height_bytes))
            at = one.parent
        path = tuple(functions_of(path_map, index))
        paths[node.function, node.height_bytes, tuple(seen)].add(path)
    return sum(len(found) > 1 for found in paths.values())


@pytest.mark.parametrize("seed", range(8))
def test_heights_grow_by_the_sizes_on_their_paths_and_never_beyond_the_budget(seed):
    before = random_map(seed, 400)
    found = resized(before, ResizingRules(seed, wraps_calls=seed % 2 == 0, budget_ratio=1.4))
    after = found.path_map
    for index, node in enumerate(after.nodes):
        path = list(functions_of(after, index))
        grown = sum(found.frame_bytes.get(function, 0) for function in path[1:])
        grown += sum(found.call_bytes.get((caller, callee), 0) for callee, caller in pairwise(path))
        assert node.height_bytes == before.nodes[index].height_bytes + grown
        assert node._replace(height_bytes=0) == before.nodes[index]._replace(height_bytes=0)
    assert found.after_bytes <= 1.4 * found.before_bytes
    assert found.separation.before_count == one_path_keys(before)
    assert found.separation.after_count == one_path_keys(after)
    assert one_path_keys(before) < one_path_keys(after) <= found.separation.most_count
    assert all(size % 16 == 0 for size in found.frame_bytes.values())


def test_the_same_seed_finds_the_same_and_only_the_frames_that_can_grow_do():
    path_map = random_map(3, 300)
    rules = ResizingRules(5, frames={1: 64, 2: 64, 3: 1000}, budget_ratio=1.3)
    assert resized(path_map, rules).frame_bytes == resized(path_map, rules).frame_bytes
    sizes = resized(path_map, rules).frame_bytes
    assert set(sizes) <= {1, 2, 3}
    assert sizes.get(1, 0) <= 64
    assert sizes.get(2, 0) <= 64
    assert resized(path_map, ResizingRules(5, frames={})).frame_bytes == {}


def test_no_budget_changes_nothing_that_is_the_highest():
    path_map = random_map(4, 300)
    found = resized(path_map, ResizingRules(1, budget_ratio=1))
    assert found.after_bytes == found.before_bytes


def test_keys_are_counted_the_same_where_there_are_too_many_places(monkeypatch):
    order = path_order(random_map(6, 300).nodes)
    limit = int(order.heights_bytes.max())
    counted = PathKeys(order, limit).counts(order.heights_bytes)
    monkeypatch.setattr("steelyard.analysis.paths.path_keys._MOST_PLACES_A_KEY", 0)
    assert PathKeys(order, limit).counts(order.heights_bytes) == counted


def test_steps_are_counted_the_same_along_paths_and_over_the_tree():
    order = path_order(random_map(7, 200).nodes)
    pairs = set(zip(order.callers.tolist(), order.functions.tolist(), strict=True))
    steps = height_steps(order, range(12), pairs)
    counts = StepCounts(order, steps)
    over_tree: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for step in range(len(steps.names)):
        for node, count in enumerate(counts.on_paths(step).tolist()):
            over_tree[node][step] += count
    for node in range(len(order.functions)):
        assert counts.on_path_to(node) == +over_tree[node]


def test_wrapped_calls_are_passed_no_more_often_than_they_may_be():
    path_map = random_map(2, 400)
    passes = calls_learnt(path_map)
    found = resized(path_map, ResizingRules(1, frames={}, wraps_calls=True, most_wrapped_ratio=0.2))
    passed = sum(passes[call] for call in found.call_bytes)
    assert 0 < passed <= 0.2 * path_map.call_count
    assert found.wrapped_share == pytest.approx(passed / path_map.call_count)
    allowed = set(sorted(found.call_bytes)[:1])
    few = resized(path_map, ResizingRules(1, frames={}, wraps_calls=True, calls=allowed))
    assert set(few.call_bytes) <= allowed


def test_what_cannot_be_counted_is_not_wrapped():
    path_map = map_of((MAIN, B, A, D), (MAIN, A, B, D))
    uncounted = [
        node._replace(call_count=0) if node.function == A else node for node in path_map.nodes
    ]
    rules = ResizingRules(1, frames={}, wraps_calls=True, budget_ratio=2)
    found = resized(replace(path_map, nodes=uncounted), rules)
    assert found.call_bytes
    assert all(callee != A for _, callee in found.call_bytes)


def test_a_search_leaves_no_size_that_could_be_smaller():
    order = path_order(random_map(8, 300).nodes)
    steps = height_steps(order, range(12), ())
    highest = int(order.heights_bytes.max())
    found = separate(order, steps, SearchRules(4 * highest, 3, goal=0.9))
    counts, keys = StepCounts(order, steps), PathKeys(order, 4 * highest)
    goal = min(found.most_count, int(np.ceil(0.9 * found.key_limit)))
    assert found.bytes_by_step
    for step, name in enumerate(steps.names):
        size = found.bytes_by_step.get(name, 0)
        if size:
            smaller = found.heights_bytes - GRAIN_BYTES * counts.on_paths(step)
            gone = found.heights_bytes - size * counts.on_paths(step)
            wanted = min(goal, found.after_count)
            assert keys.counts(smaller).with_one_path < wanted
            assert keys.counts(gone).with_one_path < wanted
