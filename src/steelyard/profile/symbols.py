"""The functions of a program or library, by the symbols of its file."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.core.elf_file import from_elf

# Elf64_Sym and Elf32_Sym, as in elf(5).
_KIND = [("info", "u1"), ("other", "u1"), ("section", "<u2")]
_SYMBOLS = {
    64: np.dtype([("name", "<u4"), *_KIND, ("value", "<u8"), ("size", "<u8")]),
    32: np.dtype([("name", "<u4"), ("value", "<u4"), ("size", "<u4"), *_KIND]),
}
_FUNCTION, _INDIRECT = 2, 10  # STT_FUNC, STT_GNU_IFUNC
_DEBUG_ROOT = "/usr/lib/debug/.build-id"


@dataclass(frozen=True)
class Symbols:
    """Functions of one file, by rising address.

    Parameters
    ----------
    addresses, ends : array of uint64
        Where each function begins and ends, as virtual addresses of the file.
    names : sequence of bytes
    segments : tuple of (offset, file bytes, virtual address)
        How offsets in the file become virtual addresses.
    build_id : str
        Hexadecimal, empty where the file has none.
    """

    addresses: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.uint64]
    names: Sequence[bytes]
    segments: tuple[tuple[int, int, int], ...]
    build_id: str = ""

    def virtual_addresses(self, offsets: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Virtual addresses of offsets in the file; an offset in no segment stays as it is."""
        addresses = offsets.copy()
        for offset, size, address in self.segments:
            inside = (offsets >= offset) & (offsets < offset + size)
            addresses[inside] = offsets[inside] - np.uint64(offset) + np.uint64(address)
        return addresses

    def function_indices(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Which function each virtual address is in; -1 for none."""
        if not len(self.addresses):
            return np.full(len(addresses), -1)
        index = np.searchsorted(self.addresses, addresses, side="right").astype(np.int64) - 1
        inside = (index >= 0) & (addresses < self.ends[np.maximum(index, 0)])
        return np.where(inside, index, -1)


_NOTHING = np.empty(0, np.uint64)
NO_SYMBOLS = Symbols(_NOTHING, _NOTHING, (), ())


def read_symbols(path: str) -> Symbols:
    """The functions of an ELF file, with those of its separate debug file where that is installed.

    A file that is gone, is not ELF, or is damaged has none.
    """
    return from_elf(path, _symbols_of, NO_SYMBOLS)


def _symbols_of(elf: Any) -> Symbols:
    segments = tuple(
        (segment["p_offset"], segment["p_filesz"], segment["p_vaddr"])
        for segment in elf.iter_segments("PT_LOAD")
    )
    build_id = _build_id(elf)
    found = _functions(elf, ".symtab")
    if not found:
        found = _debug_functions(build_id) or _functions(elf, ".dynsym")
    return _sorted(found, segments, build_id)


_Found = list[tuple[npt.NDArray[np.void], bytes]]


def _functions(elf: Any, name: str) -> _Found:
    section = elf.get_section_by_name(name)
    if section is None or section["sh_type"] == "SHT_NOBITS":
        return []
    table = np.frombuffer(section.data(), _SYMBOLS[elf.elfclass])
    kind = table["info"] & 0xF
    wanted = ((kind == _FUNCTION) | (kind == _INDIRECT)) & (table["section"] != 0)
    strings = elf.get_section(section["sh_link"]).data()
    return [(table[wanted], strings)] if wanted.any() else []


def _build_id(elf: Any) -> str:
    section = elf.get_section_by_name(".note.gnu.build-id")
    if section is None:
        return ""
    return next((str(note["n_desc"]) for note in section.iter_notes()), "")


def has_debugging_information(path: str) -> bool:
    """Whether an ELF file describes its sources, by itself or in its separate debug file."""
    return from_elf(path, _is_described, False)


def _is_described(elf: Any) -> bool:
    if elf.get_section_by_name(".debug_info") is not None:
        return True
    build_id = _build_id(elf)
    return bool(build_id) and os.path.exists(_debug_path(build_id))


def _debug_path(build_id: str) -> str:
    return os.path.join(_DEBUG_ROOT, build_id[:2], build_id[2:] + ".debug")


def _debug_functions(build_id: str) -> _Found:
    if not build_id:
        return []
    return from_elf(_debug_path(build_id), lambda elf: _functions(elf, ".symtab"), [])


def _sorted(found: _Found, segments: tuple[tuple[int, int, int], ...], build_id: str) -> Symbols:
    if not found:
        return Symbols(_NOTHING, _NOTHING, (), segments, build_id)
    table, strings = found[0]
    # Of several names for one address the one with a size comes last, and is kept.
    order = np.lexsort((table["size"], table["value"]))
    table = table[order]
    last = np.append(table["value"][1:] != table["value"][:-1], True)
    table = table[last]
    addresses = table["value"].astype(np.uint64)
    following = np.append(addresses[1:], np.uint64(2**64 - 1))
    # Hand-written assembler often gives no size: it goes to the next symbol then.
    sizes = table["size"].astype(np.uint64)
    ends = np.where(sizes > 0, addresses + sizes, following)
    names = [_name_at(strings, int(at)) for at in table["name"]]
    return Symbols(addresses, ends, names, segments, build_id)


def _name_at(strings: bytes, at: int) -> bytes:
    return strings[at : strings.index(b"\0", at)]


@cache
def _demangler() -> ctypes.CDLL | None:
    name = ctypes.util.find_library("stdc++")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.__cxa_demangle.restype = ctypes.c_void_p
    return library


@cache
def readable_name(name: bytes) -> str:
    """A symbol's name as a person writes it: C++ and Rust without their mangling.

    Where the machine has no C++ library the name stays as it is.
    """
    plain = name.decode("utf-8", "replace")
    library = _demangler() if name.startswith(b"_Z") else None
    if library is None:
        return plain
    status = ctypes.c_int()
    memory = library.__cxa_demangle(name, None, None, ctypes.byref(status))
    if not memory or status.value:
        return plain
    text = ctypes.string_at(memory).decode("utf-8", "replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(memory))
    return text
