"""Where the code of a function begins that is in several places (DWARF 4 and 5, section 2.17)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from steelyard.profile.paths.debug_entries import Attribute, DebugUnit, Entry, number_at

_PAIR, _ADDRESS = struct.Struct("<QQ"), struct.Struct("<Q")
_BASE = 2**64 - 1
# DW_RLE_end_of_list, _offset_pair, _base_address, _start_end, _start_length.
_END, _OFFSET_PAIR, _BASE_ADDRESS, _START_END, _START_LENGTH = 0, 4, 5, 6, 7


def starts_of(unit: DebugUnit, root: Entry, entry: Entry) -> list[int]:
    """Where each part of the code of an entry begins.

    Raises
    ------
    LookupError, ValueError, struct.error
        Its list is damaged, or of a kind that is not read.
    """
    low = entry.number(Attribute.LOW_PC)
    if low is not None:
        return [low]
    at = entry.number(Attribute.RANGES)
    if at is None:
        return []
    base = root.number(Attribute.LOW_PC) or 0
    return list(_of_pairs(unit, at, base) if unit.version < 5 else _of_kinds(unit, at, base))


def _of_pairs(unit: DebugUnit, at: int, base: int) -> Iterator[int]:
    data = unit.sections["ranges"]
    while True:
        low, high = _PAIR.unpack_from(data, at)
        at += _PAIR.size
        if low == high == 0:
            return
        if low == _BASE:
            base = high
        else:
            yield base + low


def _of_kinds(unit: DebugUnit, at: int, base: int) -> Iterator[int]:
    data = unit.sections["rnglists"]
    while (kind := data[at]) != _END:
        at += 1
        if kind == _OFFSET_PAIR:
            low, at = number_at(data, at)
            _, at = number_at(data, at)
            yield base + low
            continue
        if kind not in (_BASE_ADDRESS, _START_END, _START_LENGTH):
            raise ValueError
        (low,) = _ADDRESS.unpack_from(data, at)
        at += _ADDRESS.size
        if kind == _BASE_ADDRESS:
            base = low
            continue
        at = at + _ADDRESS.size if kind == _START_END else number_at(data, at)[1]
        yield low
