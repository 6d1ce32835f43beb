"""Where the frame of a function begins, by its table in `.eh_frame`, on x86-64.

DWARF 5, section 6.4, and Linux Standard Base 5.0, core, 10.6.1. Rules by expressions are not read.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.core.elf_file import ElfFile

STACK_POINTER, RETURN_ADDRESS = 7, 16
_POINTER_SIZES = {0x0: "<Q", 0x2: "<H", 0x3: "<I", 0x4: "<Q", 0xA: "<h", 0xB: "<i", 0xC: "<q"}
_RELATIVE_TO_PLACE, _OMITTED = 0x10, 0xFF
_FIXED_OPERANDS = {0x02: "<B", 0x03: "<H", 0x04: "<I"}


class UnreadableRulesError(ValueError):
    """The table is damaged, or has a rule that is not read here."""


@dataclass
class FrameRules:
    """How the caller's registers follow from those at an address.

    Parameters
    ----------
    register, offset_bytes : int
        The frame begins (its canonical frame address) at this register plus so much.
    saved : dict of int to int
        Registers that lie in memory, by bytes from the canonical frame address.
    """

    register: int = STACK_POINTER
    offset_bytes: int = 8
    saved: dict[int, int] = field(default_factory=dict[int, int])


@dataclass(frozen=True)
class _Common:
    code_factor: int
    data_factor: int
    encoding: int
    is_augmented: bool
    is_signal: bool
    instructions: bytes


class _Entry(NamedTuple):
    """A function's entry: its addresses, and where the parts of it lie in the section."""

    start: int
    limit: int
    common_at: int
    rules_at: int
    end: int


class _Cursor:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def take(self, layout: str) -> int:
        try:
            (value,) = struct.unpack_from(layout, self.data, self.at)
        except struct.error:
            raise UnreadableRulesError("it is cut short") from None
        self.at += struct.calcsize(layout)
        return value

    def number(self, *, is_signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.take("<B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value - (1 << shift) if is_signed and byte & 0x40 else value

    def pointer(self, encoding: int, section: int) -> int:
        layout = _POINTER_SIZES.get(encoding & 0x0F)
        if layout is None or encoding & 0x60:
            raise UnreadableRulesError(f"its pointers have encoding {encoding:#x}")
        place = section + self.at if encoding & 0x70 == _RELATIVE_TO_PLACE else 0
        return (self.take(layout) + place) % 2**64


class FrameTables:
    """The tables of an ELF file."""

    def __init__(self, elf: ElfFile) -> None:
        section = elf.section(".eh_frame")
        is_there = section is not None and section.is_in_file
        self._data = elf.data(section) if section is not None and is_there else b""
        self._section = section.address if section is not None else 0
        self._commons: dict[int, _Common] = {}

    def __bool__(self) -> bool:
        return bool(self._data)

    def at(self, address: int) -> tuple[int, FrameRules] | None:
        """The function's start, and the rules at an address; None where no table covers it.

        Raises
        ------
        UnreadableRulesError
            The table is damaged, or has a rule that is not read here.
        """
        entries, unreadable = self._entries
        at = bisect_right(entries, address, key=lambda one: one.start) - 1
        entry = entries[at] if at >= 0 else None
        if entry is None or address >= entry.limit:
            if unreadable is not None:
                raise unreadable
            return None
        common = self._common(entry.common_at)
        if common.is_signal:
            raise UnreadableRulesError("a signal handler returns there")
        cursor = _Cursor(self._data[: entry.end], entry.rules_at)
        if common.is_augmented:
            cursor.at += cursor.number()
        rules = FrameRules()
        _run(common.instructions, common, rules, None)
        _run(self._data[cursor.at : entry.end], common, rules, address - entry.start)
        return entry.start, rules

    def spans(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Where functions begin, rising, and where each ends."""
        entries = self._entries[0]
        starts = np.array([entry.start for entry in entries], np.uint64)
        return starts, np.array([entry.limit for entry in entries], np.uint64)

    @cached_property
    def _entries(self) -> tuple[list[_Entry], UnreadableRulesError | None]:
        """The functions by rising start, and why one of them is not there."""
        found: list[_Entry] = []
        unreadable: UnreadableRulesError | None = None
        cursor = _Cursor(self._data)
        while cursor.at + 8 <= len(self._data):
            size = cursor.take("<I")
            if size == 0:
                break
            begin, end = cursor.at, cursor.at + size
            back = cursor.take("<I")
            try:
                if back:
                    found.append(self._entry(begin - back, begin + 4, end))
            except UnreadableRulesError as error:
                unreadable = error
            cursor.at = end
        return sorted(found), unreadable

    def _entry(self, common_at: int, begin: int, end: int) -> _Entry:
        common = self._common(common_at)
        cursor = _Cursor(self._data, begin)
        start = cursor.pointer(common.encoding, self._section)
        size = cursor.pointer(common.encoding & 0x0F, 0)
        if cursor.at > end:
            raise UnreadableRulesError("it is cut short")
        return _Entry(start, start + size, common_at, cursor.at, end)

    def _common(self, at: int) -> _Common:
        known = self._commons.get(at)
        if known is None:
            known = self._commons[at] = self._read_common(at)
        return known

    def _read_common(self, at: int) -> _Common:
        if at < 0:
            raise UnreadableRulesError("it is damaged")
        cursor = _Cursor(self._data, at)
        end = cursor.take("<I") + cursor.at
        cursor.at += 5
        text_end = self._data.find(b"\0", cursor.at)
        letters = self._data[cursor.at : max(text_end, cursor.at)].decode("latin-1")
        cursor.at = text_end + 1
        code, data = cursor.number(), cursor.number(is_signed=True)
        cursor.number()
        encoding, after = 0x00, cursor.at
        if letters.startswith("z"):
            after = cursor.number() + cursor.at
            for letter in letters[1:]:
                if letter == "R":
                    encoding = cursor.take("<B")
                elif letter == "L":
                    cursor.take("<B")
                elif letter == "P":
                    cursor.pointer(cursor.take("<B") & 0x0F, 0)
        instructions = self._data[after:end]
        return _Common(code, data, encoding, "z" in letters, "S" in letters, instructions)


def _run(code: bytes, common: _Common, rules: FrameRules, until: int | None) -> None:
    """Follow a table's instructions up to an offset in the function."""
    initial = dict(rules.saved)
    kept: list[tuple[int, int, dict[int, int]]] = []
    cursor, place = _Cursor(code), 0
    while cursor.at < len(code):
        byte = cursor.take("<B")
        step = _advance(byte, cursor)
        if step is not None:
            place += step * common.code_factor
            if until is not None and place > until:
                return
        elif byte == 0x0A:
            kept.append((rules.register, rules.offset_bytes, dict(rules.saved)))
        elif byte == 0x0B and kept:
            rules.register, rules.offset_bytes, rules.saved = kept.pop()
        elif not _set_frame(byte, cursor, common, rules):
            _set_saved(byte, cursor, common, rules, initial)


def _advance(byte: int, cursor: _Cursor) -> int | None:
    if byte & 0xC0 == 0x40:
        return byte & 0x3F
    return cursor.take(_FIXED_OPERANDS[byte]) if byte in _FIXED_OPERANDS else None


def _set_frame(byte: int, cursor: _Cursor, common: _Common, rules: FrameRules) -> bool:
    match byte:
        case 0x0C:
            rules.register, rules.offset_bytes = cursor.number(), cursor.number()
        case 0x0D:
            rules.register = cursor.number()
        case 0x0E:
            rules.offset_bytes = cursor.number()
        case 0x12:
            rules.register = cursor.number()
            rules.offset_bytes = cursor.number(is_signed=True) * common.data_factor
        case 0x13:
            rules.offset_bytes = cursor.number(is_signed=True) * common.data_factor
        case _:
            return False
    return True


def _set_saved(
    byte: int, cursor: _Cursor, common: _Common, rules: FrameRules, initial: dict[int, int]
) -> None:
    register = byte & 0x3F
    if byte & 0xC0 == 0x80:
        rules.saved[register] = cursor.number() * common.data_factor
        return
    if byte == 0x00:
        return
    if byte == 0x2E:
        cursor.number()
        return
    is_short = byte & 0xC0 == 0xC0
    if not is_short and byte not in {0x05, 0x06, 0x07, 0x08, 0x11}:
        raise UnreadableRulesError(f"its table has instruction {byte:#x}, which is not read")
    register = register if is_short else cursor.number()
    if byte in {0x05, 0x11}:
        rules.saved[register] = cursor.number(is_signed=byte == 0x11) * common.data_factor
        return
    rules.saved.pop(register, None)
    if (is_short or byte == 0x06) and register in initial:
        rules.saved[register] = initial[register]
