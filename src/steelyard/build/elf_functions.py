"""What the randomisations need of ELF files: sections, functions, and marks of the compiler."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from steelyard.core.elf_file import (
    ALLOCATED,
    INSTRUCTIONS,
    SYMBOL_TABLE,
    ElfFile,
    NotElfError,
    TextTable,
)

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
class ElfFunctions:
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


def read_elf_functions(file: BinaryIO) -> ElfFunctions:
    """Read an object, a program or a shared library.

    Raises
    ------
    NotElfError
        It is something else, or cut short.
    OSError
        It cannot be read.
    """
    try:
        return _read(ElfFile(file))
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise NotElfError from error


def _read(elf: ElfFile) -> ElfFunctions:
    if not elf.sections:
        raise NotElfError
    functions: list[Function] = []
    sources: list[str] = []
    tables = [section for section in elf.sections if section.kind == SYMBOL_TABLE]
    # The standard has one; further ones could name the same bytes again.
    for table in tables[:1]:
        texts = TextTable(elf.data(elf.sections[table.link]))
        functions += _functions(_symbols(elf, elf.data(table)), texts, sources)
    code = ALLOCATED | INSTRUCTIONS
    sections = tuple(Section(s.name, s.size, s.flags & code == code) for s in elf.sections)
    return ElfFunctions(
        elf.kind, sections, tuple(functions), sources[0] if sources else "", not tables
    )


def _functions(
    symbols: Iterator[tuple[int, int, int, int]], texts: TextTable, sources: list[str]
) -> Iterator[Function]:
    """The functions of a symbol table; the sources that it names are appended to `sources`."""
    file = ""
    for name, info, section, value in symbols:
        kind, binding = info & 15, info >> 4
        if kind == _FILE:
            file = texts.at(name)
            if file:
                sources.append(file)
        elif kind in (_FUNCTION, _INDIRECT_FUNCTION) and 0 < section < _RESERVED_INDICES:
            local = binding == _LOCAL
            strong = binding in (_LOCAL, _GLOBAL)
            yield Function(texts.at(name), section, value, file if local else "", local, strong)


def _symbols(elf: ElfFile, table: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Of each symbol where its name is, its info, section and value (Elf64_Sym, Elf32_Sym)."""
    if elf.bits == 64:
        for name, info, _, section, value, _ in struct.iter_unpack(elf.order + "IBBHQQ", table):
            yield name, info, section, value
    else:
        for name, value, _, info, _, section in struct.iter_unpack(elf.order + "IIIBBH", table):
            yield name, info, section, value
