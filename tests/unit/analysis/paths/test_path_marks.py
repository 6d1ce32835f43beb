"""Values of threads are those that marked calls make, wherever the stack begins."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.marked_keys import MarkedKeys
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode, PathNumbers
from steelyard.analysis.paths.path_marks import (
    ANY_MARK,
    FOREIGN_MARK,
    NO_MARK,
    mark_value,
    node_marks,
)

WORD = 2**64


def random_tree(draw: random.Random, count: int) -> list[PathNode]:
    nodes = [PathNode(ROOT, 0, 32, 1)]
    for _ in range(count):
        parent = draw.randrange(len(nodes))
        height = nodes[parent].height_bytes + 16 * draw.randint(1, 9)
        nodes.append(PathNode(parent, draw.randrange(8), height, 1))
    return nodes


def carried(nodes: list[PathNode], node: int, numbers: dict[tuple[int, int], int], start: int):
    """What the code of marked calls computes on the way to a node."""
    way = []
    while node != ROOT:
        way.append(nodes[node])
        node = nodes[node].parent
    value, way = 0, way[::-1]
    for caller, callee in pairwise(way):
        number = numbers.get((caller.function, callee.function))
        if number is not None:
            value = (3 * value + number + start - callee.height_bytes) % WORD
    return value


@pytest.mark.parametrize("seed", range(5))
def test_the_mark_of_a_path_gives_the_value_that_its_calls_compute(seed: int):
    draw = random.Random(seed)
    nodes = random_tree(draw, 300)
    calls = {(nodes[node.parent].function, node.function) for node in nodes[1:]}
    numbers = {call: draw.randrange(1, 2**31) for call in calls if draw.random() < 0.4}
    marks = node_marks(nodes, numbers)
    assert len(set(marks)) > 20
    for start in (0, 0x7FFF_FFFF_E000, WORD - 16):
        for index, mark in enumerate(marks):
            assert mark_value(mark, start) == carried(nodes, index, numbers, start)


# `leaf` is called at one height by `f` and by `g`, of which the call of `f` is marked.
NODES = (
    PathNode(ROOT, 1, 16, 1),
    PathNode(0, 2, 48, 2),
    PathNode(0, 3, 48, 2),
    PathNode(1, 4, 80, 3),
    PathNode(2, 4, 80, 1),
)
NAMES = {1: "main", 2: "f", 3: "g", 4: "leaf"}
MAP = PathMap("p", "ab", 1, NAMES, {}, NODES, marks={(1, 2): 77})
START = 0x7FFD_0000_1000


def test_what_a_thread_carries_tells_paths_of_one_height():
    keyed = KeyedPaths(MAP, {})
    by_f, by_g = keyed.mark(4, 80, 77 + START - 48, START), keyed.mark(4, 80, 0, START)
    assert by_g == NO_MARK
    assert [one.functions for one in keyed.candidates(4, 80, by_f)] == [("main", "f", "leaf")]
    assert [one.functions for one in keyed.candidates(4, 80, by_g)] == [("main", "g", "leaf")]
    assert keyed.routes(4, 80, by_g) == {(1, 3, 4)}


def test_a_value_that_was_left_over_from_another_height_is_no_paths():
    keyed = KeyedPaths(MAP, {})
    assert keyed.mark(4, 80, 77 + START - 64, START) == FOREIGN_MARK
    assert keyed.candidates(4, 80, FOREIGN_MARK) == ()


def test_where_the_value_is_not_known_all_paths_of_the_key_are_candidates():
    keyed = KeyedPaths(MAP, {})
    assert len(keyed.candidates(4, 80, ANY_MARK)) == 2
    assert keyed.mark(4, 96, 5, START) == ANY_MARK


@pytest.mark.parametrize("seed", range(5))
def test_keys_as_arrays_share_what_keys_by_paths_share(seed: int):
    draw = random.Random(seed)
    nodes = [
        node._replace(height_bytes=node.height_bytes // 64 * 64 + 16)
        for node in random_tree(draw, 400)
    ]
    called = [(nodes[node.parent].function, node.function) for node in nodes[1:]]
    calls = sorted(set(called))
    numbers = [draw.randrange(1, 2**31) for _ in calls]
    keys = MarkedKeys(nodes, [-1, *map(calls.index, called)], numbers)
    paths = PathNumbers().of(nodes)
    for share in (0.0, 0.05, 0.3, 1.0):
        marked = {place for place in range(len(calls)) if draw.random() < share}
        marks = node_marks(nodes, {calls[place]: numbers[place] for place in marked})
        by_key: dict[object, set[int]] = {}
        for index, node in enumerate(nodes):
            key = node.function, node.height_bytes, marks[index]
            by_key.setdefault(key, set()).add(paths[index])
        shared = sorted(sorted(group) for group in by_key.values() if len(group) > 1)
        found = keys.groups(marked, 10_000)
        assert sorted(sorted(paths[node] for node in group) for group in found) == shared
        assert keys.shared_count(marked) == sum(map(len, shared))
        assert len(keys.groups(marked, 3)) <= 3
