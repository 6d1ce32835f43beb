"""Sizes of frames of functions that no learnt path has, where calls by pointers meet.

A call by a pointer can have no mark. Functions that call so, and those that are called so, have
frames of different sizes instead, so that a path through one of them has another height than a path
through another one. Learnt paths have none of them, and keep their heights.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from steelyard.analysis.paths.call_graph import HELD, POINTER, CallGraph

# Stacks are aligned to so many bytes. Few functions share callers and callees, and a stack of
# functions that were never run must not become much higher.
_STEP_BYTES, _SIZE_COUNT = 16, 16


def unlearnt_frames(
    graph: CallGraph, learnt: Collection[int], most_bytes: Mapping[int, int]
) -> dict[int, int]:
    """By how much frames grow, in bytes.

    Parameters
    ----------
    graph : CallGraph
    learnt : collection of int
        Functions of learnt paths.
    most_bytes : mapping of int to int
        Functions whose frames can grow, and by how many bytes.
    """
    callers = {one.caller for one in graph.transfers if one.kind in (HELD, POINTER)}
    rooms = {at: min(most_bytes[at] // _STEP_BYTES, _SIZE_COUNT) for at in most_bytes}
    chosen = sorted(at for at in (callers | graph.taken) - set(learnt) if rooms.get(at, 0) > 0)
    return {at: _STEP_BYTES * (1 + place % rooms[at]) for place, at in enumerate(chosen)}
