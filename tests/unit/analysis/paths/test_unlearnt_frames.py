"""Frames of functions that no learnt path has, by which paths through pointers differ."""

from __future__ import annotations

from steelyard.analysis.paths.call_graph import FUNCTION, HELD, POINTER, CallGraph, Transfer
from steelyard.analysis.paths.unlearnt_frames import unlearnt_frames

MAIN, BY_HELD, BY_POINTER, TAKEN, DIRECT = 0x100, 0x200, 0x300, 0x400, 0x500
FUNCTIONS = (MAIN, BY_HELD, BY_POINTER, TAKEN, DIRECT)
GRAPH = CallGraph(
    FUNCTIONS,
    {},
    (
        Transfer(MAIN, FUNCTION, False, 32, DIRECT),
        Transfer(BY_HELD, HELD, False, 32, TAKEN),
        Transfer(BY_POINTER, POINTER, False, 32),
    ),
    frozenset({TAKEN}),
    frozenset(),
    {},
    MAIN,
    (),
    (),
)
MUCH = dict.fromkeys(FUNCTIONS, 1000)


def test_those_that_call_or_are_called_by_pointers_have_different_sizes():
    found = unlearnt_frames(GRAPH, (), MUCH)
    assert found.keys() == {BY_HELD, BY_POINTER, TAKEN}
    assert len(set(found.values())) == 3
    assert all(size > 0 and size % 16 == 0 for size in found.values())


def test_frames_of_learnt_paths_and_those_that_cannot_grow_keep_their_size():
    assert unlearnt_frames(GRAPH, {BY_HELD, TAKEN}, MUCH).keys() == {BY_POINTER}
    assert unlearnt_frames(GRAPH, (), {BY_HELD: 8}) == {}


def test_a_frame_with_little_room_takes_what_there_is():
    functions = tuple(range(0x1000, 0x1400, 0x10))
    many = CallGraph(functions, {}, (), frozenset(functions), frozenset(), {}, None, (), ())
    sizes = unlearnt_frames(many, (), dict.fromkeys(functions, 63))
    assert sizes.keys() == set(functions)
    assert set(sizes.values()) == {16, 32, 48}


def test_no_frame_becomes_much_larger():
    functions = tuple(range(0x1000, 0x3000, 0x10))
    many = CallGraph(functions, {}, (), frozenset(functions), frozenset(), {}, None, (), ())
    sizes = unlearnt_frames(many, (), dict.fromkeys(functions, 1 << 20)).values()
    assert max(sizes) == 256
