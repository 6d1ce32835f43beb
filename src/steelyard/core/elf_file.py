"""The one reader of ELF files, which may be anything by now: profiles are read long after they
were made, and objects while they are written.

System V ABI, "Object Files"; elf(5). Both word sizes and byte orders. The standard library alone:
the way of a measurement reads programs too. Of a damaged file no more is read than it has, and its
names are no more than a few times as much.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO, TypeVar

_Found = TypeVar("_Found")
MAGIC = b"\x7fELF"
RELOCATABLE, EXECUTABLE, SHARED = 1, 2, 3  # ET_REL, ET_EXEC, ET_DYN
SYMBOL_TABLE, RELOCATIONS, NOTES, NOT_IN_FILE = 2, 4, 7, 8  # SHT_SYMTAB, _RELA, _NOTE, _NOBITS
ALLOCATED, INSTRUCTIONS, COMPRESSED = 0x2, 0x4, 0x800  # SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED
LOADED_SEGMENT, NOTE_SEGMENT = 1, 4  # PT_LOAD, PT_NOTE
_BUILD_ID = 3  # NT_GNU_BUILD_ID
_INDEX_ELSEWHERE, _COUNT_ELSEWHERE = 0xFFFF, 0xFFFF  # SHN_XINDEX, PN_XNUM
# Linkers let a name be the end of another one: more than a few that end alike are no linker's.
_MOST_SHARING = 16
# What readers of what stands in a damaged file end on: offsets and sizes are taken as they are.
_DAMAGE = (ArithmeticError, LookupError, MemoryError, OSError, TypeError, ValueError, struct.error)


class NotElfError(ValueError):
    """The bytes are not an ELF file that can be read."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section header (Elf64_Shdr)."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int

    @property
    def is_in_file(self) -> bool:
        """Whether the file has its bytes."""
        return self.kind != NOT_IN_FILE


@dataclass(frozen=True, slots=True)
class ElfSegment:
    """A program header (Elf64_Phdr)."""

    kind: int
    flags: int
    offset: int
    address: int
    file_bytes: int
    memory_bytes: int


@dataclass(frozen=True)
class _Layout:
    """Where the parts of a file of one word size are."""

    header: str
    section: str
    segment: str


_LAYOUTS = {
    1: _Layout("HHIIIIIHHHHHH", "IIIIIIII", "IIIIIII"),
    2: _Layout("HHIQQQIHHHHHH", "IIQQQQII", "IIQQQQQ"),
}


class TextTable:
    """The names in a table of them (SHT_STRTAB), by where each begins."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._known: dict[int, str] = {}
        self._left_bytes = _MOST_SHARING * len(data)

    def at(self, start: int) -> str:
        """One name; the last one of a damaged table has no end of its own.

        Raises
        ------
        NotElfError
            Names that were asked for are far more than the table: it is made to fill memory.
        """
        known = self._known.get(start)
        if known is not None:
            return known
        end = self._data.find(b"\0", start)
        name = self._data[start:end] if end >= 0 else self._data[start:]
        self._left_bytes -= len(name)
        if self._left_bytes < 0:
            raise NotElfError
        return self._known.setdefault(start, name.decode("utf-8", "surrogateescape"))


class ElfFile:
    """An ELF file that is open: its headers; and what sections hold, where that is asked for.

    Parameters
    ----------
    file : binary file
        Read at any place, and not closed.

    Raises
    ------
    NotElfError
        It is something else, or its header is cut short.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, os.SEEK_END)
        identity = self._read(0, 16)
        if identity[:4] != MAGIC or len(identity) < 16 or identity[4] not in _LAYOUTS:
            raise NotElfError
        self.bits = 32 * identity[4]
        self.order = "<" if identity[5] == 1 else ">"
        self._layout = _LAYOUTS[identity[4]]
        header = struct.Struct(self.order + self._layout.header)
        start = self._read(16, header.size)
        if len(start) < header.size:
            raise NotElfError
        fields = header.unpack(start)
        self.kind, self.machine = int(fields[0]), int(fields[1])
        self._segments_at, self._sections_at = int(fields[4]), int(fields[5])
        self._segment_shape = int(fields[8]), int(fields[9])
        self._section_shape = int(fields[10]), int(fields[11])
        self._names_index = int(fields[12])

    @cached_property
    def sections(self) -> tuple[ElfSection, ...]:
        """All sections, by their number; none in a file that has no table of them.

        Raises
        ------
        NotElfError
            The file does not hold the table that it claims.
        """
        headers = self._section_headers()
        if not headers:
            return ()
        index = self._names_index
        # A number that has no room in the header is in the first section's.
        index = headers[0][6] if index == _INDEX_ELSEWHERE else index
        if index >= len(headers):
            raise NotElfError
        names = TextTable(self._read(headers[index][4], headers[index][5]))
        return tuple(ElfSection(names.at(row[0]), *row[1:8]) for row in headers)

    @cached_property
    def segments(self) -> tuple[ElfSegment, ...]:
        """All program headers.

        Raises
        ------
        NotElfError
            The file does not hold the table that it claims.
        """
        size, count = self._segment_shape
        if count == _COUNT_ELSEWHERE:
            headers = self._section_headers()
            if not headers:
                raise NotElfError
            count = headers[0][7]
        rows = self._table(self._segments_at, size, count, self._layout.segment)
        if self.bits == 64:
            return tuple(ElfSegment(k, f, at, to, here, run) for k, f, at, to, _, here, run in rows)
        return tuple(ElfSegment(k, f, at, to, here, run) for k, at, to, _, here, run, f in rows)

    def section(self, name: str) -> ElfSection | None:
        """The first section of this name; None where there is none."""
        return next((each for each in self.sections if each.name == name), None)

    def data(self, section: ElfSection, most_bytes: int | None = None) -> bytes:
        """What a section holds, as it is in the file; no more of it than is asked for."""
        if not section.is_in_file:
            return b""
        size = section.size if most_bytes is None else min(section.size, most_bytes)
        return self._read(section.offset, size)

    def segments_of(self, kind: int) -> list[ElfSegment]:
        """The program headers of a kind, in their order."""
        return [each for each in self.segments if each.kind == kind]

    @property
    def build_id(self) -> str:
        """Hexadecimal; empty where the file has none."""
        parts = [(each.offset, each.size) for each in self.sections if each.kind == NOTES]
        parts += [(each.offset, each.file_bytes) for each in self.segments_of(NOTE_SEGMENT)]
        for offset, size in parts:
            for name, kind, value in _notes(self._read(offset, size), self.order):
                if name == b"GNU\0" and kind == _BUILD_ID:
                    return value.hex()
        return ""

    def _section_headers(self) -> list[tuple[int, ...]]:
        """Of each section: where its name is, and the fields of `ElfSection`."""
        if self._sections_at == 0:
            return []
        size, count = self._section_shape
        if count == 0:  # More than 65,279: the count is the size of the first section.
            first = self._table(self._sections_at, size, 1, self._layout.section)
            count = first[0][5]
        return self._table(self._sections_at, size, count, self._layout.section)

    def _table(self, offset: int, size: int, count: int, fields: str) -> list[tuple[int, ...]]:
        row = struct.Struct(self.order + fields)
        if count and (size < row.size or offset + count * size > self._size):
            raise NotElfError
        data = self._read(offset, count * size)
        return [row.unpack_from(data, at) for at in range(0, count * size, size or 1)]

    def _read(self, offset: int, size: int) -> bytes:
        """What the file has of these bytes."""
        if offset >= self._size:
            return b""
        self._file.seek(offset)
        return self._file.read(min(size, self._size - offset))


def _notes(data: bytes, order: str) -> Iterator[tuple[bytes, int, bytes]]:
    """Name, kind and value of each note (elf(5), "Notes"), up to where they are damaged."""
    head = struct.Struct(order + "III")
    at = 0
    while at + head.size <= len(data):
        name_bytes, value_bytes, kind = head.unpack_from(data, at)
        name_at = at + head.size
        value_at = name_at + (name_bytes + 3) // 4 * 4
        at = value_at + (value_bytes + 3) // 4 * 4
        yield data[name_at : name_at + name_bytes], kind, data[value_at : value_at + value_bytes]


def from_elf(path: str, take: Callable[[ElfFile], _Found], otherwise: _Found) -> _Found:
    """What `take` finds in an ELF file.

    Parameters
    ----------
    path : str
    take : callable
        From the opened file to what is wanted of it.
    otherwise : object
        Where the file is gone, is no ELF file, or is damaged.
    """
    # To open a pipe would be to wait for who writes it.
    if not os.path.isfile(path):
        return otherwise
    try:
        with open(path, "rb") as file:
            return from_open_elf(file, take, otherwise)
    except OSError:
        return otherwise


def from_open_elf(file: BinaryIO, take: Callable[[ElfFile], _Found], otherwise: _Found) -> _Found:
    """The same of a file that is open, or in memory."""
    try:
        return take(ElfFile(file))
    except _DAMAGE:
        return otherwise


def section_start(file: BinaryIO, name: str, most_bytes: int) -> bytes | None:
    """The start of the first section of this name; None where there is none to be read."""

    def start(elf: ElfFile) -> bytes | None:
        section = elf.section(name)
        return None if section is None else elf.data(section, most_bytes)

    return from_open_elf(file, start, None)
