"""The functions of a Go program by the table of its own runtime, which stripping leaves.

The table is `.gopclntab`, as `debug/gosym` of Go's library reads it, of Go 1.18 and later.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.core.elf_file import RELOCATIONS, ElfFile, ElfSection

_SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
# Of Go 1.18 and 1.20; both lay the parts out that are read here in the same way.
_MAGICS = (0xFFFFFFF0, 0xFFFFFFF1)
_HEAD = struct.Struct("<IHBB")
_WORDS = {4: struct.Struct("<8I"), 8: struct.Struct("<8Q")}
_ENTRY = np.dtype([("address", "<u4"), ("data", "<u4")])
_NAME_AT = 4
# Words of `moduledata` in runtime/symtab.go, which `.go.module` is from Go 1.26 on.
_MODULE = ".go.module"
_MODULE_TABLE, _MODULE_LAST, _MODULE_TEXT = 0, 21, 22
_MODULE_WORDS = 24
# Elf64_Rela and Elf32_Rela, as in elf(5).
_RELOCATION_FIELDS = (("place", "u"), ("info", "u"), ("addend", "i"))
_RELOCATIONS = {
    bits: np.dtype([(name, f"<{kind}{bits // 8}") for name, kind in _RELOCATION_FIELDS])
    for bits in (32, 64)
}
# Behind the last function the section is filled up to this, where Go's own linker made it.
_FILLING_BYTES = 64


class GoFunctions(NamedTuple):
    """Where functions begin, where the last one ends, and their names: offsets in `strings`."""

    addresses: npt.NDArray[np.uint64]
    end: int
    names: npt.NDArray[np.uint64]
    strings: bytes


def go_functions(elf: ElfFile) -> GoFunctions | None:
    """The functions of an opened ELF file; None where it has no such table, or another one.

    What the compiler inlined is not among them: it counts for the functions that it was inlined
    into.
    """
    found = (elf.section(name) for name in _SECTIONS)
    section = next((section for section in found if section is not None), None)
    text = elf.section(".text")
    if section is None or text is None:
        return None
    data = elf.data(section)
    magic, _, _, word_bytes = _HEAD.unpack_from(data)
    if magic not in _MAGICS or word_bytes not in _WORDS:
        return None
    words = _WORDS[word_bytes].unpack_from(data, _HEAD.size)
    count, _, text_start, names_at, *_, functions_at = words
    table = np.frombuffer(data, _ENTRY, count, functions_at)
    (size,) = struct.unpack_from("<I", data, functions_at + count * _ENTRY.itemsize)
    start = text_start or _start_of_code(elf, section.address, text, size)
    places = functions_at + table["data"].astype(np.int64) + _NAME_AT
    if start is None or (len(places) and int(places.max()) + _NAME_AT > len(data)):
        return None
    raw = np.frombuffer(data, np.uint8)
    names = sum(raw[places + byte].astype(np.uint64) << np.uint64(8 * byte) for byte in range(4))
    addresses = table["address"].astype(np.uint64) + np.uint64(start)
    return GoFunctions(addresses, start + size, np.asarray(names, np.uint64), data[names_at:])


def _start_of_code(elf: ElfFile, table_at: int, text: ElfSection, size: int) -> int | None:
    """Where Go's code begins, of a table that leaves that to the runtime; None: not known.

    The module's own description says it. Without one it is the section of code where that holds
    nothing else: a linker of C puts code of C before Go's and behind it.
    """
    module = _module_words(elf)
    if module and module[_MODULE_TABLE] == table_at:
        if module[_MODULE_LAST] - module[_MODULE_TEXT] == size:
            return module[_MODULE_TEXT]
        return None
    return text.address if 0 <= text.size - size <= _FILLING_BYTES else None


def _module_words(elf: ElfFile) -> tuple[int, ...]:
    """The first words of the module's description, with what the loader puts there."""
    section = elf.section(_MODULE)
    if section is None:
        return ()
    layout = struct.Struct(f"<{_MODULE_WORDS}{'Q' if elf.bits == 64 else 'I'}")
    data = elf.data(section)
    if len(data) < layout.size:
        return ()
    words = list(layout.unpack_from(data))
    begin, word_bytes = section.address, layout.size // _MODULE_WORDS
    for relocations in (each for each in elf.sections if each.kind == RELOCATIONS):
        table = np.frombuffer(elf.data(relocations), _RELOCATIONS[elf.bits])
        inside = (table["place"] >= begin) & (table["place"] < begin + layout.size)
        for place, addend in table[["place", "addend"]][inside].tolist():
            words[(place - begin) // word_bytes] = addend
    return tuple(words)
