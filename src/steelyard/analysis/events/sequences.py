"""How much two sequences of events differ: what `diff` would print, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Side = Literal["both", "first", "second"]


def order_difference(first: Sequence[int], second: Sequence[int]) -> int:
    """How many events one of the sequences has where the other has not: the lines that a minimal
    diff takes out and puts in.

    Notes
    -----
    ``len(first) + len(second) - 2 L`` with the longest common subsequence L, whose length comes by
    bit-parallel rows (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    start, end = _common_ends(first, second)
    a, b = first[start : len(first) - end], second[start : len(second) - end]
    if not a or not b:
        return len(a) + len(b)
    row = _rows(a, b)[-1]
    return len(a) + len(b) - 2 * (len(a) - row.bit_count())


def aligned(first: Sequence[int], second: Sequence[int]) -> list[tuple[Side, int]]:
    """Both sequences as one list, each event with the side that has it (a minimal diff)."""
    start, end = _common_ends(first, second)
    a, b = first[start : len(first) - end], second[start : len(second) - end]
    middle: list[tuple[Side, int]] = []
    rows = _rows(a, b) if a and b else []
    i, j = len(a), len(b)
    while i and j:
        # The length of what is common grows at a zero bit; one row up, without b[j - 1], it may
        # not.
        here, above = (_common(rows[k], i) if k >= 0 else 0 for k in (j - 1, j - 2))
        if here == above:
            j -= 1
            middle.append(("second", b[j]))
        elif a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            middle.append(("both", a[i]))
        else:
            i -= 1
            middle.append(("first", a[i]))
    middle.extend(("first", event) for event in reversed(a[:i]))
    middle.extend(("second", event) for event in reversed(b[:j]))
    middle.reverse()
    return [*_same(first[:start]), *middle, *_same(first[len(first) - end :])]


def _same(events: Sequence[int]) -> list[tuple[Side, int]]:
    return [("both", event) for event in events]


def _common_ends(first: Sequence[int], second: Sequence[int]) -> tuple[int, int]:
    """How many events are the same at the start and, of the others, at the end."""
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return start, end


def _rows(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """For each event of `b` the row of bits whose zeros are the common events so far."""
    everything = (1 << len(a)) - 1
    places: dict[int, int] = {}
    for index, event in enumerate(a):
        places[event] = places.get(event, 0) | 1 << index
    row, rows = everything, list[int]()
    for event in b:
        matched = row & places.get(event, 0)
        row = ((row + matched) | (row - matched)) & everything
        rows.append(row)
    return rows


def _common(row: int, length: int) -> int:
    """The common events within the first `length` events of `a`."""
    return length - (row & ((1 << length) - 1)).bit_count()
