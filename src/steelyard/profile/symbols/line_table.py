"""The line tables of debugging information: which line of which file made which code.

DWARF Debugging Information Format, version 5, section 6.2; versions 2 to 4 are read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

_LONG_FORMAT, _SEGMENT_FREE_VERSION, _NEWEST_VERSION, _OLDEST_VERSION = 0xFFFFFFFF, 4, 5, 2
# Standard opcodes (section 6.2.5.2), and extended ones.
_EXTENDED, _COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = 0, 1, 2, 3, 4
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2
_PATH = 1
_MOST_BITS = 70
_STRING, _TEXT_FORMS = 0x08, {0x0E: ".debug_str", 0x1F: ".debug_line_str"}
_FIXED_FORMS = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}
_BLOCK, _UNSIGNED = 0x09, 0x0F


class DamagedTableError(ValueError):
    """A line table ends too early, or has what is not known."""


class Row(NamedTuple):
    """From `address` on the code is of this line, up to the next row."""

    address: int
    file: int
    line: int
    is_end: bool


class _Bytes:
    """Reads numbers one after another."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def fixed(self, count: int) -> int:
        begin, self.at = self.at, self.at + count
        if self.at > self.end:
            raise DamagedTableError
        return int.from_bytes(self.data[begin : self.at], "little")

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.fixed(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > _MOST_BITS:
                raise DamagedTableError
            if byte < 0x80:
                return value

    def signed(self) -> int:
        begin, value = self.at, self.unsigned()
        bits = 7 * (self.at - begin)
        return value - (1 << bits) if value >> (bits - 1) else value

    def text(self) -> str:
        end = self.data.find(b"\0", self.at, self.end)
        if end < 0:
            raise DamagedTableError
        begin, self.at = self.at, end + 1
        return self.data[begin:end].decode(errors="replace")


class LineTable:
    """The table of one unit.

    Parameters
    ----------
    data : bytes
        The section.
    begin, end : int
        Where the unit is, behind its length.
    offset_bytes : int
        Of an offset in it: 4 or 8.
    texts : mapping of str to bytes
        Sections with texts, by name.

    Raises
    ------
    DamagedTableError
        Its header is not read.
    """

    def __init__(
        self, data: bytes, begin: int, end: int, offset_bytes: int, texts: Mapping[str, bytes]
    ) -> None:
        head = _Bytes(data, begin, end)
        self._offset_bytes, self._texts = offset_bytes, texts
        version = head.fixed(2)
        if not _OLDEST_VERSION <= version <= _NEWEST_VERSION:
            raise DamagedTableError
        if version > _SEGMENT_FREE_VERSION:
            head.fixed(2)
        length = head.fixed(offset_bytes)
        program_at = head.at + length
        self._unit_bytes = head.fixed(1)
        if version >= _SEGMENT_FREE_VERSION:
            head.fixed(1)
        head.fixed(1)
        base = head.fixed(1)
        self._line_base = base - 0x100 if base >= 0x80 else base
        self._line_range, self._opcode_base = head.fixed(1), head.fixed(1)
        if not self._line_range or not self._opcode_base:
            raise DamagedTableError
        self._operands = [head.fixed(1) for _ in range(1, self._opcode_base)]
        newest = version == _NEWEST_VERSION
        self.files = dict(self._newest_files(head)) if newest else dict(_older_files(head))
        self._program = _Bytes(data, program_at, end)

    def _newest_files(self, head: _Bytes) -> Iterator[tuple[int, str]]:
        self._entries(head)
        return enumerate(self._entries(head))

    def _entries(self, head: _Bytes) -> list[str]:
        shape = [(head.unsigned(), head.unsigned()) for _ in range(head.fixed(1))]
        names: list[str] = []
        for _ in range(head.unsigned() if shape else 0):
            name = ""
            for content, form in shape:
                value = self._value(head, form)
                name = value if content == _PATH else name
            names.append(name)
        return names

    def _value(self, head: _Bytes, form: int) -> str:
        """A text; empty where the value is none."""
        if form == _STRING:
            return head.text()
        if form in _TEXT_FORMS:
            data, at = self._texts.get(_TEXT_FORMS[form], b""), head.fixed(self._offset_bytes)
            return _Bytes(data, at, len(data)).text()
        if form == _UNSIGNED:
            head.unsigned()
        elif form == _BLOCK:
            head.fixed(head.unsigned())
        elif form in _FIXED_FORMS:
            head.fixed(_FIXED_FORMS[form])
        else:
            raise DamagedTableError
        return ""

    def rows(self) -> Iterator[Row]:
        """The rows by rising address within each sequence; of code that the linker has left out
        there are none.

        Raises
        ------
        DamagedTableError
            The rest of the table is not read.
        """
        program = self._program
        address, file, line, is_kept = 0, 1, 1, False
        while program.at < program.end:
            opcode = program.fixed(1)
            if opcode >= self._opcode_base:
                steps, more = divmod(opcode - self._opcode_base, self._line_range)
                address += steps * self._unit_bytes
                line += self._line_base + more
            elif opcode == _EXTENDED:
                size = program.unsigned()
                end, kind = program.at + size, program.fixed(1) if size else _EXTENDED
                if kind == _SET_ADDRESS:
                    address = program.fixed(size - 1)
                    is_kept = address != 0
                program.at = end
                if kind != _END_SEQUENCE:
                    continue
            else:
                operands = [self._operand(opcode) for _ in range(self._operands[opcode - 1])] or [0]
                address += self._advance(opcode, operands)
                line += operands[0] if opcode == _ADVANCE_LINE else 0
                file = operands[0] if opcode == _SET_FILE else file
                if opcode != _COPY:
                    continue
            is_end = opcode == _EXTENDED
            if is_kept:
                yield Row(address, file, line, is_end)
            if is_end:
                address, file, line, is_kept = 0, 1, 1, False

    def _operand(self, opcode: int) -> int:
        if opcode == _FIXED_ADVANCE_PC:
            return self._program.fixed(2)
        return self._program.signed() if opcode == _ADVANCE_LINE else self._program.unsigned()

    def _advance(self, opcode: int, operands: list[int]) -> int:
        if opcode == _ADVANCE_PC:
            return operands[0] * self._unit_bytes
        if opcode == _CONST_ADD_PC:
            return (255 - self._opcode_base) // self._line_range * self._unit_bytes
        return operands[0] if opcode == _FIXED_ADVANCE_PC else 0


def line_tables(data: bytes, texts: Mapping[str, bytes]) -> Iterator[LineTable]:
    """The tables of a section that can be read.

    Parameters
    ----------
    data : bytes
        The section .debug_line.
    texts : mapping of str to bytes
        The sections with texts, by name.
    """
    at = 0
    while at + 4 <= len(data):
        length, offset_bytes = int.from_bytes(data[at : at + 4], "little"), 4
        at += 4
        if length == _LONG_FORMAT:
            length, offset_bytes = int.from_bytes(data[at : at + 8], "little"), 8
            at += 8
        end = min(at + length, len(data))
        with suppress(DamagedTableError):
            yield LineTable(data, at, end, offset_bytes, texts)
        at = end


def _older_files(head: _Bytes) -> Iterator[tuple[int, str]]:
    """Files of versions before 5, numbered from 1, behind the folders."""
    while head.text():
        pass
    number = 0
    while name := head.text():
        number += 1
        for _ in range(3):
            head.unsigned()
        yield number, name
