"""Marks of paths: what a thread carries where marked calls led to it.

A marked call changes the value V of its thread to 3 V + c + S. c is a number of the call's own, and
S the canonical frame address of the called function; its return puts V back. V depends on the order
of calls (M. D. Bond, K. S. McKinley, *Probabilistic Calling Context*, OOPSLA 2007, section 3.2). By
S a value that is left over from other frames is one that no path has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from steelyard.analysis.paths.path_map import ROOT, PathNode

Call = tuple[int, int]
# A path without marked calls.
NO_MARK = 0
# Of a sample whose thread's value is not known: its path may have any mark.
ANY_MARK = -1
# Of a sample that carries a value which no path of its key has.
FOREIGN_MARK = -2
# What a marked call has on the stack above the frame of the called function.
MARK_BYTES = 16
_FACTOR, _WORD_BITS = 3, 64
_WORD = 1 << _WORD_BITS


def node_marks(nodes: Sequence[PathNode], numbers: Mapping[Call, int]) -> list[int]:
    """The mark of the path to each node: how many marked calls it has, and the value that they
    make where the stack begins at address 0.

    Parameters
    ----------
    nodes : sequence of PathNode
        Parents before children.
    numbers : mapping of Call to int
        Of the marked calls, by caller and callee.
    """
    if not numbers:
        return [NO_MARK] * len(nodes)
    found: list[int] = []
    for node in nodes:
        if node.parent == ROOT:
            found.append(NO_MARK)
            continue
        mark = found[node.parent]
        number = numbers.get((nodes[node.parent].function, node.function))
        found.append(mark if number is None else marked_once(mark, number, node.height_bytes))
    return found


def marked_once(mark: int, number: int, height_bytes: int) -> int:
    """The mark of a path that a marked call makes longer.

    Parameters
    ----------
    mark : int
        Before the call.
    number : int
        Of the call.
    height_bytes : int
        Of the called function.
    """
    count, value = divmod(mark, _WORD)
    return (count + 1) * _WORD + (_FACTOR * value + number - height_bytes) % _WORD


def mark_value(mark: int, stack_start: int) -> int:
    """What a thread carries whose path has this mark, where its stack begins at an address.

    Each S is the start of the stack minus a height, so V is linear in the start.
    """
    count, value = divmod(mark, _WORD)
    starts = (_FACTOR**count - 1) // (_FACTOR - 1)
    return (value + stack_start * starts) % _WORD


def carried_mark(value: int, stack_start: int, known: Collection[int]) -> int:
    """The mark among those known that a thread with this value has; `FOREIGN_MARK`: none."""
    for mark in known:
        if mark_value(mark, stack_start) == value:
            return mark
    return FOREIGN_MARK
