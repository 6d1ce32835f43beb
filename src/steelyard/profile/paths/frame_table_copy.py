"""A copy of the frame tables of a program (`.eh_frame`) at another address, with entries of ours.

Linux Standard Base 5.0, core, 10.6.1 and 10.6.2.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.profile.paths.copied_frames import CopiedFrame, FrameEntry
from steelyard.profile.symbols.frame_rules import UnreadableRulesError

_SIZES = {0x0: 8, 0x2: 2, 0x3: 4, 0x4: 8, 0xA: 2, 0xB: 4, 0xC: 8}
_BY_PLACE, _RELATION, _OMITTED = 0x10, 0x70, 0xFF
# Of a header: pointers of four bytes by their place, counts, and by the start of the header.
_HEADER_ENCODINGS = bytes([1, 0x1B, 0x03, 0x3B])
# Version, "zR", factors 1 and -8, register of the return address, a byte of augmentation: pointers
# of four bytes by their place. The frame begins 8 above the stack pointer, below it the address.
_COMMON = bytes([0, 0, 0, 0, 1]) + b"zR\0" + bytes([1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8, 0x90, 1])
# The same with a personality routine, whose place stands between these.
_PASSED = bytes([0, 0, 0, 0, 1]) + b"zPR\0" + bytes([1, 0x78, 16, 6, 0x1B])
_BEHIND_ROUTINE = bytes([0x1B, 0x0C, 7, 8, 0x90, 1])
_ADVANCE, _SET_OFFSET = 0x40, 0x0E


@dataclass(frozen=True)
class FrameChange:
    """How far the frame is above the stack pointer from so many bytes behind the last change on."""

    code_bytes: int
    offset_bytes: int


@dataclass(frozen=True)
class CodeFrame:
    """The frame of a piece of code, which begins as a called function.

    Exceptions that pass it call the code at `routine`, its personality routine; 0: there is none.
    """

    start: int
    byte_count: int
    changes: tuple[FrameChange, ...]
    routine: int = 0


@dataclass(frozen=True)
class _Common:
    pointer: int
    handler_data: int
    is_augmented: bool


class FrameTableCopy:
    """The tables of a program, which are given other places.

    Parameters
    ----------
    data : bytes
        The section.
    address : int
        Where it is.

    Raises
    ------
    UnreadableRulesError
        The table is damaged, or written in a way that is not read here.
    """

    def __init__(self, data: bytes, address: int) -> None:
        self._data = data
        self._address = address
        self._places: list[tuple[int, int]] = []
        self._starts: list[tuple[int, int]] = []
        self._end = 0
        self._commons: dict[int, _Common] = {}
        self._entries: dict[int, FrameEntry] = {}
        try:
            self._read()
        except (struct.error, IndexError):
            raise UnreadableRulesError("it is cut short") from None

    def entry(self, start: int) -> FrameEntry | None:
        """The entry of the code that begins at an address."""
        return self._entries.get(start)

    def moved(self, address: int, frames: Sequence[CodeFrame | CopiedFrame]) -> tuple[bytes, bytes]:
        """The section, and its header `.eh_frame_hdr` that lies right before it.

        Parameters
        ----------
        address : int
            Where the header begins.
        frames : sequence of CodeFrame or CopiedFrame
            What is added.

        Raises
        ------
        UnreadableRulesError
            The table is too far from the code, or has nothing of an original.
        """
        count = len(self._starts) + len(frames)
        place = address + self.header_bytes(len(frames))
        table = bytearray(self._data[: self._end])
        for at, byte_count in self._places:
            value = _number(table, at, byte_count) + self._address - place
            table[at : at + byte_count] = _bytes_of(value, byte_count)
        starts = [(start, place + at) for start, at in self._starts]
        commons: dict[int, int] = {}
        for frame in frames:
            if isinstance(frame, CopiedFrame):
                starts.append((frame.start, place + len(table)))
                table += self._copied(frame, len(table), place)
                continue
            common_at = commons.setdefault(frame.routine, len(table))
            if common_at == len(table):
                table += _common_entry(frame.routine, place + common_at)
            starts.append((frame.start, place + len(table)))
            table += _described(frame, len(table), common_at, place)
        table += bytes(4)
        header = bytearray(_HEADER_ENCODINGS)
        header += struct.pack("<iI", place - (address + len(header)), count)
        for start, at in sorted(starts):
            header += _bytes_of(start - address, 4) + _bytes_of(at - address, 4)
        return bytes(header).ljust(place - address, b"\0"), bytes(table)

    def _copied(self, frame: CopiedFrame, at: int, section: int) -> bytes:
        entry = self._entries.get(frame.original)
        if entry is None:
            raise UnreadableRulesError("it has no entry of a function that is copied")
        found = bytearray(self._data[entry.begin : entry.end])
        for offset, content in frame.changes:
            place = offset - entry.begin
            found[place : place + len(content)] = content
        found[4:8] = struct.pack("<I", at + 4 - entry.common)
        moved = (self._address + entry.begin) - (section + at)
        for place, byte_count in entry.places:
            own = place - entry.begin
            value = _number(found, own, byte_count) + moved
            found[own : own + byte_count] = _bytes_of(value, byte_count)
        # The code moves too; it is named right behind the distance to the common entry.
        pointer = _SIZES[self._commons[entry.common].pointer & 0x0F]
        value = _number(found, 8, pointer) + frame.start - frame.original
        found[8 : 8 + pointer] = _bytes_of(value, pointer)
        return bytes(found)

    def header_bytes(self, added: int) -> int:
        """How long the header is, with so many entries of ours."""
        return (12 + 8 * (len(self._starts) + added) + 7) // 8 * 8

    def _read(self) -> None:
        at = 0
        while at + 4 <= len(self._data):
            (size,) = struct.unpack_from("<I", self._data, at)
            if size == 0:
                break
            end = at + 4 + size
            if size == 0xFFFFFFFF or end > len(self._data):
                raise UnreadableRulesError("an entry is longer than the table")
            (back,) = struct.unpack_from("<I", self._data, at + 4)
            if back == 0:
                self._commons[at] = self._common(at)
            else:
                self._function(at, end, at + 4 - back)
            at = end
        self._end = at

    def _common(self, at: int) -> _Common:
        end = self._data.index(b"\0", at + 9)
        letters = self._data[at + 9 : end].decode("latin-1")
        cursor = end + 1
        cursor = self._behind_number(self._behind_number(cursor))
        cursor = cursor + 1 if self._data[at + 8] == 1 else self._behind_number(cursor)
        if letters and not letters.startswith("z"):
            raise UnreadableRulesError(f"its augmentation is {letters!r}")
        pointer, handler_data = 0, _OMITTED
        cursor = self._behind_number(cursor) if letters else cursor
        for letter in letters[1:]:
            encoding = self._data[cursor]
            cursor += letter in "RLP"
            if letter == "R":
                pointer = encoding
            elif letter == "L":
                handler_data = encoding
            elif letter == "P":
                cursor = self._note(cursor, encoding)
            elif letter not in "SB":
                raise UnreadableRulesError(f"its augmentation is {letters!r}")
        return _Common(pointer, handler_data, bool(letters))

    def _function(self, at: int, end: int, common_at: int) -> None:
        common = self._commons.get(common_at)
        if common is None:
            raise UnreadableRulesError("an entry is of no common one")
        start, first = at + 8, len(self._places)
        behind = self._note(start, common.pointer)
        value = _number(self._data, start, behind - start)
        if common.pointer & _RELATION == _BY_PLACE:
            value += self._address + start
        self._starts.append((value % 2**64, at))
        code_bytes = _number(self._data, behind, behind - start) % 2 ** (8 * (behind - start))
        cursor, handlers = behind + behind - start, 0
        if common.is_augmented:
            handlers = self._note_handlers(self._behind_number(cursor), common.handler_data)
        places = tuple(self._places[first:])
        entry = FrameEntry(at, end, common_at, code_bytes, handlers, places)
        self._entries.setdefault(value % 2**64, entry)

    def _note_handlers(self, cursor: int, encoding: int) -> int:
        """Note the pointer to what the language has for exceptions; the address, or 0."""
        byte_count = 0 if encoding == _OMITTED else _SIZES.get(encoding & 0x0F, 0)
        value = _number(self._data, cursor, byte_count) if byte_count else 0
        if not value:
            return 0
        self._note(cursor, encoding)
        by_place = encoding & _RELATION == _BY_PLACE
        return (value + (self._address + cursor if by_place else 0)) % 2**64

    def _note(self, at: int, encoding: int) -> int:
        """Note a pointer that depends on its place; where it ends."""
        byte_count = _SIZES.get(encoding & 0x0F)
        if byte_count is None or encoding & _RELATION not in (0, _BY_PLACE):
            raise UnreadableRulesError(f"its pointers have encoding {encoding:#x}")
        if encoding & _RELATION == _BY_PLACE:
            self._places.append((at, byte_count))
        return at + byte_count

    def _behind_number(self, at: int) -> int:
        while self._data[at] & 0x80:
            at += 1
        return at + 1


def _number(data: bytes | bytearray, at: int, byte_count: int) -> int:
    if at + byte_count > len(data):
        raise UnreadableRulesError("it is cut short")
    return int.from_bytes(data[at : at + byte_count], "little", signed=True)


def _bytes_of(value: int, byte_count: int) -> bytes:
    try:
        return value.to_bytes(byte_count, "little", signed=True)
    except OverflowError:
        raise UnreadableRulesError("it is too far from its code") from None


def _common_entry(routine: int, at: int) -> bytes:
    if not routine:
        return _entry(_COMMON)
    # Behind the four bytes of the length.
    distance = routine - (at + 4 + len(_PASSED))
    return _entry(_PASSED + _bytes_of(distance, 4) + _BEHIND_ROUTINE)


def _described(frame: CodeFrame, at: int, common_at: int, section: int) -> bytes:
    entry = struct.pack("<I", at + 4 - common_at)
    entry += _bytes_of(frame.start - (section + at + 8), 4) + struct.pack("<I", frame.byte_count)
    entry += b"\0"
    for change in frame.changes:
        entry += bytes([_ADVANCE | change.code_bytes, _SET_OFFSET]) + _uleb(change.offset_bytes)
    return _entry(entry)


def _entry(content: bytes) -> bytes:
    padded = content.ljust((len(content) + 4 + 7) // 8 * 8 - 4, b"\0")
    return struct.pack("<I", len(padded)) + padded


def _uleb(value: int) -> bytes:
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
