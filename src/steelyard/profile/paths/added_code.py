"""A finished program with more code: new segments behind its own, and tables that know of them.

The program headers, `.eh_frame` and its header move to a segment of their own; what was there
stays. System V ABI, "Program Loading"; elf(5).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO

from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import DataError
from steelyard.profile.paths.copied_frames import CopiedFrame
from steelyard.profile.paths.frame_table_copy import CodeFrame, FrameTableCopy
from steelyard.profile.symbols.frame_rules import UnreadableRulesError

CODE_SECTION, CLONE_SECTION = ".steelyard.calls", ".steelyard.clones"
_PAGE_BYTES = 4096
# Behind so much zeroed data no code is added: the file would have a hole of that size.
_MOST_HOLE_BYTES = 1 << 28
# So much address space is zeroed data more, that the program stays in one piece.
_MOST_BRIDGE_BYTES = 1 << 26
_HEADER, _SEGMENT = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_LOAD, _HEADERS, _FRAME_HEADER = 1, 6, 0x6474E550  # PT_LOAD, PT_PHDR, PT_GNU_EH_FRAME
_READABLE, _EXECUTABLE, _WRITABLE = 4, 5, 2
_SYMBOLS = 2  # SHT_SYMTAB
_GLOBAL_FUNCTION, _HIDDEN = 0x12, 2
_NO_NUMBER = 0xFF00


@dataclass(frozen=True)
class AddedFunction:
    """A piece of code that is added.

    Parameters
    ----------
    name : str
        Its symbol.
    code : bytes
    frame : CodeFrame or CopiedFrame
    """

    name: str
    code: bytes
    frame: CodeFrame | CopiedFrame


@dataclass(frozen=True)
class _Places:
    """Where in the file and in memory what is new begins."""

    offset: int
    address: int

    def at(self, byte_count: int) -> _Places:
        return replace(self, offset=self.offset + byte_count, address=self.address + byte_count)


class GrowingProgram:
    """A program to which code is added.

    Parameters
    ----------
    data : bytes
        Its file.

    Raises
    ------
    DataError
        Code cannot be added to it.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            elf = ElfFile(BytesIO(data))
            if elf.bits != 64 or elf.order != "<":
                raise NotElfError
            self._names = [section.name for section in elf.sections]
            self._header = list(_HEADER.unpack_from(data, 0))
            self._segments = self._rows(_SEGMENT, 5, 10)
            self._sections = self._rows(_SECTION, 6, 12)
            frames = elf.section(".eh_frame")
            if frames is None or ".eh_frame_hdr" not in self._names:
                raise DataError("The program has no tables of frames (.eh_frame).", field="program")
            self._frames = FrameTableCopy(elf.data(frames), frames.address)
        except (NotElfError, struct.error):
            raise DataError("The program cannot be read as one of ELF.", field="program") from None
        except UnreadableRulesError as error:
            raise DataError(
                f"The program's tables of frames cannot be moved: {error}.", field="program"
            ) from None
        if CODE_SECTION in self._names:
            raise DataError("The program has wrapped calls already.", field="program")
        if CLONE_SECTION in self._names:
            raise DataError("The program has cloned functions already.", field="program")

    def _rows(self, layout: struct.Struct, place: int, count: int) -> list[list[int]]:
        start, number = int(self._header[place]), int(self._header[count])
        rows = range(start, start + number * layout.size, layout.size)
        return [list(layout.unpack_from(self._data, at)) for at in rows]

    def code_place(self) -> tuple[int, int]:
        """The address of the first added function, and where in the file it will be."""
        start = self._start()
        return start.address, start.offset

    def _start(self) -> _Places:
        loaded = [row for row in self._segments if row[0] == _LOAD]
        if not loaded or len(self._sections) + 4 >= _NO_NUMBER:
            raise DataError("The program has no segments that can be read.", field="program")
        # With the same distance of address and offset as the first segment, so that the program
        # headers are found by kernels before 5.18 too.
        distance = loaded[0][3] - loaded[0][2]
        behind = max(row[3] + row[6] for row in loaded) - distance
        offset = _page_up(max(len(self._data), behind))
        if offset - len(self._data) > _MOST_HOLE_BYTES:
            raise DataError("The program has too much zeroed data to add code.", field="program")
        return _Places(offset, offset + distance)

    def _table_bytes(self) -> int:
        return (len(self._segments) + 2) * _SEGMENT.size

    def with_code(
        self,
        functions: Sequence[AddedFunction],
        notes: Mapping[str, bytes] | None = None,
        clones: Sequence[AddedFunction] = (),
    ) -> bytearray:
        """The file with clones and then functions behind each other, from `code_place` on.

        Parameters
        ----------
        functions : sequence of AddedFunction
        notes : mapping of str to bytes, optional
            Sections that are not loaded.
        clones : sequence of AddedFunction
            Copies of the program's own functions.
        """
        code_at = self._start()
        code = b"".join(function.code for function in (*clones, *functions))
        start = code_at.at(_page_up(len(code)))
        header_at = start.at(self._table_bytes())
        frames = [function.frame for function in (*clones, *functions)]
        try:
            header, table = self._frames.moved(header_at.address, frames)
        except UnreadableRulesError as error:
            raise DataError(f"The tables cannot be moved: {error}.", field="program") from None
        added = _segment(_LOAD, _EXECUTABLE, code_at, len(code))
        added += _segment(_LOAD, _READABLE, start, self._table_bytes() + len(header) + len(table))
        tables = self._segment_table(code_at.address, start, header_at, len(header)) + added
        data = bytearray(self._data)
        _put(data, code_at.offset, code)
        _put(data, start.offset, tables + header + table)
        self._place_frames(header_at, len(header), len(table))
        self._add_sections(data, code_at, {CLONE_SECTION: clones, CODE_SECTION: functions})
        self._add_notes(data, notes or {})
        self._write_sections(data)
        self._header[5], self._header[10] = start.offset, len(self._segments) + 2
        data[: _HEADER.size] = _HEADER.pack(*self._header)
        return data

    def _segment_table(self, added: int, start: _Places, header: _Places, size: int) -> bytes:
        rows = b""
        for row in self._bridged(added):
            if row[0] == _HEADERS:
                rows += _segment(_HEADERS, _READABLE, start, self._table_bytes(), 8)
            elif row[0] == _FRAME_HEADER:
                rows += _segment(_FRAME_HEADER, _READABLE, header, size, 4)
            else:
                rows += _SEGMENT.pack(*row)
        return rows

    def _bridged(self, address: int) -> list[list[int]]:
        """The segments, with zeroed data up to an address where that is allowed.

        The dynamic loader finds the object of an address in longer ways if a program has holes:
        exceptions that are thrown ask it for each frame (glibc, elf/dl-find_object.c).
        """
        last = max(
            (row for row in self._segments if row[0] == _LOAD), key=lambda row: row[3] + row[6]
        )
        can_grow = last[1] & _WRITABLE and address - last[3] - last[6] <= _MOST_BRIDGE_BYTES
        return [
            [*row[:6], address - row[3], row[7]] if can_grow and row is last else row
            for row in self._segments
        ]

    def _place_frames(self, header: _Places, size: int, table_bytes: int) -> None:
        table = header.at(size)
        for name, place, count in (
            (".eh_frame_hdr", header, size),
            (".eh_frame", table, table_bytes),
        ):
            row = self._sections[self._names.index(name)]
            row[3], row[4], row[5] = place.address, place.offset, count

    def _add_sections(
        self, data: bytearray, at: _Places, pieces: Mapping[str, Sequence[AddedFunction]]
    ) -> None:
        """A section for each kind of code, and symbols for what is in it, behind all else."""
        for name, functions in pieces.items():
            size = sum(len(function.code) for function in functions)
            if size:
                # Allocated code (SHT_PROGBITS, SHF_ALLOC and SHF_EXECINSTR).
                row = [self._name(data, name), 1, 6, at.address, at.offset, size, 0, 0, 16, 0]
                self._sections.append(row)
                self._add_symbols(data, functions, len(self._sections) - 1)
            at = at.at(size)

    def _add_notes(self, data: bytearray, notes: Mapping[str, bytes]) -> None:
        for name, content in notes.items():
            # Not allocated (SHT_PROGBITS).
            row = [self._name(data, name), 1, 0, 0, 0, 0, 0, 0, 8, 0]
            _append(data, row, content)
            self._sections.append(row)

    def _name(self, data: bytearray, name: str) -> int:
        """Add a name of a section; where it begins."""
        names = self._sections[int(self._header[13])]
        text = _content(data, names)
        _append(data, names, text + name.encode() + b"\0")
        return len(text)

    def _write_sections(self, data: bytearray) -> None:
        at = _append(data, [0] * 10, b"".join(_SECTION.pack(*row) for row in self._sections))
        self._header[6], self._header[12] = at, len(self._sections)

    def _add_symbols(
        self, data: bytearray, functions: Sequence[AddedFunction], section: int
    ) -> None:
        for symbols in self._sections:
            if symbols[1] != _SYMBOLS or symbols[6] >= len(self._sections):
                continue
            names = self._sections[symbols[6]]
            table, text = bytearray(_content(data, symbols)), bytearray(_content(data, names))
            for function in functions:
                frame = function.frame
                table += _SYMBOL.pack(
                    len(text),
                    _GLOBAL_FUNCTION,
                    _HIDDEN,
                    section,
                    frame.start,
                    frame.byte_count,
                )
                text += function.name.encode() + b"\0"
            _append(data, symbols, bytes(table))
            _append(data, names, bytes(text))


def _page_up(size: int) -> int:
    return -(-size // _PAGE_BYTES) * _PAGE_BYTES


def _segment(kind: int, flags: int, at: _Places, size: int, align: int = _PAGE_BYTES) -> bytes:
    return _SEGMENT.pack(kind, flags, at.offset, at.address, at.address, size, size, align)


def _content(data: bytearray, row: Sequence[int]) -> bytes:
    return bytes(data[row[4] : row[4] + row[5]])


def _put(data: bytearray, offset: int, content: bytes) -> None:
    data.extend(bytes(max(0, offset + len(content) - len(data))))
    data[offset : offset + len(content)] = content


def _append(data: bytearray, row: list[int], content: bytes) -> int:
    """Write a section at the end of a file; where it is."""
    offset = (len(data) + 15) // 16 * 16
    _put(data, offset, content)
    row[4], row[5] = offset, len(content)
    return offset
