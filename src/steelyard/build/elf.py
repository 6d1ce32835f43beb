"""Read what the randomisations need of ELF files: sections, functions, and marks of the compiler.

System V ABI, "Object Files"; elf(5). Both word sizes and byte orders.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"\x7fELF"
BITCODE_MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")  # LLVM: Bitcode Format, "Magic Numbers"
RELOCATABLE, EXECUTABLE, SHARED = 1, 2, 3
_SYMTAB = 2
_ALLOC, _EXECINSTR = 0x2, 0x4
_FUNCTION, _FILE, _INDIRECT_FUNCTION = 2, 4, 10
_LOCAL, _GLOBAL = 0, 1
_RESERVED_INDICES = 0xFF00


@dataclass(frozen=True)
class Section:
    """A section header: `code` tells whether it holds instructions of the program."""

    name: str
    size_bytes: int
    code: bool


@dataclass(frozen=True)
class Function:
    """A function that a file defines.

    `file` names the source of a local one, where the compiler wrote it; `strong` is False for
    weak definitions, of which the linker keeps any one.
    """

    name: str
    section: int
    address: int
    file: str
    local: bool
    strong: bool


@dataclass(frozen=True)
class ElfFile:
    """The part of an ELF file that layouts are about. `source` is the first source named."""

    kind: int
    sections: tuple[Section, ...]
    functions: tuple[Function, ...]
    source: str
    stripped: bool

    @property
    def holds_lto(self) -> bool:
        """Whether GCC wrote its own intermediate code for link-time optimisation into it."""
        return any(section.name.startswith(".gnu.lto_") for section in self.sections)


class NotElfError(ValueError):
    """The bytes are not an ELF file that can be read."""


def read_elf(data: bytes) -> ElfFile:
    """Read an object, a program or a shared library.

    Raises
    ------
    NotElfError
        It is something else, or cut short.
    """
    if data[:4] != MAGIC or len(data) < 52:
        raise NotElfError
    try:
        return _Reader(data).read()
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise NotElfError from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.wide = data[4] == 2
        self.order = "<" if data[5] == 1 else ">"

    def read(self) -> ElfFile:
        (kind,) = struct.unpack_from(self.order + "H", self.data, 16)
        headers = self._headers()
        _, _, _, start, size, _, _ = headers[self._names_index(headers)]
        names = self.data[start : start + size]
        sections = tuple(
            Section(_string(names, name), size, bool(flags & _ALLOC and flags & _EXECINSTR))
            for name, _, flags, _, size, _, _ in headers
        )
        functions: list[Function] = []
        sources: list[str] = []
        tables = [header for header in headers if header[1] == _SYMTAB]
        # The standard has one; further ones could name the same bytes again.
        for _, _, _, start, size, link, _ in tables[:1]:
            _, _, _, at, length, _, _ = headers[link]
            strings = self.data[at : at + length]
            functions += self._functions(self.data[start : start + size], strings, sources)
        return ElfFile(kind, sections, tuple(functions), sources[0] if sources else "", not tables)

    def _headers(self) -> list[tuple[int, int, int, int, int, int, int]]:
        """Of each section: name, type, flags, offset, size, link, info."""
        if self.wide:
            (offset,) = struct.unpack_from(self.order + "Q", self.data, 40)
            size, count = struct.unpack_from(self.order + "HH", self.data, 58)
            layout = struct.Struct(self.order + "IIQQQQII")
        else:
            (offset,) = struct.unpack_from(self.order + "I", self.data, 32)
            size, count = struct.unpack_from(self.order + "HH", self.data, 46)
            layout = struct.Struct(self.order + "IIIIIIII")
        if offset == 0:
            raise NotElfError
        if count == 0:  # More than 65,279: the count is the size of the first section.
            count = layout.unpack_from(self.data, offset)[5]
        if size < layout.size or offset + count * size > len(self.data):
            raise NotElfError
        found: list[tuple[int, int, int, int, int, int, int]] = []
        for index in range(count):
            name, kind, flags, _, start, length, link, info = layout.unpack_from(
                self.data, offset + index * size
            )
            found.append((name, kind, flags, start, length, link, info))
        return found

    def _names_index(self, headers: list[tuple[int, int, int, int, int, int, int]]) -> int:
        (index,) = struct.unpack_from(self.order + "H", self.data, 62 if self.wide else 50)
        return headers[0][5] if index == 0xFFFF else index

    def _functions(self, table: bytes, strings: bytes, sources: list[str]) -> Iterator[Function]:
        """The functions of a symbol table; the sources that it names are appended to `sources`."""
        file = ""
        for name, info, section, value in self._symbols(table):
            kind, binding = info & 15, info >> 4
            if kind == _FILE:
                file = _string(strings, name)
                if file:
                    sources.append(file)
            elif kind in (_FUNCTION, _INDIRECT_FUNCTION) and 0 < section < _RESERVED_INDICES:
                local = binding == _LOCAL
                yield Function(
                    _string(strings, name),
                    section,
                    value,
                    file if local else "",
                    local,
                    binding in (_LOCAL, _GLOBAL),
                )

    def _symbols(self, table: bytes) -> Iterator[tuple[int, int, int, int]]:
        if self.wide:
            for name, info, _, section, value, _ in struct.iter_unpack(
                self.order + "IBBHQQ", table
            ):
                yield name, info, section, value
        else:
            for name, value, _, info, _, section in struct.iter_unpack(
                self.order + "IIIBBH", table
            ):
                yield name, info, section, value


def _string(strings: bytes, start: int) -> str:
    return strings[start : strings.index(b"\0", start)].decode("utf-8", "surrogateescape")
