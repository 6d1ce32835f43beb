"""The functions of a program or library, by the symbols of its file."""

from __future__ import annotations

import io
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from steelyard.core.elf_file import LOADED_SEGMENT, ElfFile, from_elf, from_open_elf
from steelyard.profile.symbols.debug_files import separate_file
from steelyard.profile.symbols.go_functions import go_functions
from steelyard.profile.symbols.unwind_table import next_starts

# Elf64_Sym and Elf32_Sym, as in elf(5).
_KIND = [("info", "u1"), ("other", "u1"), ("section", "<u2")]
_SYMBOLS = {
    64: np.dtype([("name", "<u4"), *_KIND, ("value", "<u8"), ("size", "<u8")]),
    32: np.dtype([("name", "<u4"), ("value", "<u4"), ("size", "<u4"), *_KIND]),
}
_FUNCTION, _FILE, _INDIRECT = 2, 4, 10  # STT_FUNC, STT_FILE, STT_GNU_IFUNC
_LOCAL, _KIND_BITS = 0, 4  # STB_LOCAL
_FIRST_RESERVED_SECTION = 0xFF00
_NEVER = 2**64 - 1
_NUMBERS = ("value", "size", "limit", "name", "file")
_ENTRIES = np.dtype([*((name, "<u8") for name in _NUMBERS), ("info", "u1")])
_NO_ENTRIES = np.empty(0, _ENTRIES)
# The symbols of a program of 100 MB take a tenth of that.
_LARGEST_UNPACKED_BYTES = 1 << 27


class SymbolNames(Sequence[bytes]):
    """Names in a table of strings, each read when it is asked for."""

    def __init__(self, strings: bytes, offsets: npt.NDArray[np.uint64]) -> None:
        self._strings = strings
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets)

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[bytes]: ...
    def __getitem__(self, at: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(at, slice):
            return SymbolNames(self._strings, self._offsets[at])
        begin = int(self._offsets[at])
        # The last name of a damaged table has no end of its own.
        end = self._strings.find(b"\0", begin)
        return self._strings[begin:end] if end >= 0 else self._strings[begin:]


@dataclass(frozen=True)
class Aliases:
    """All symbols of a file, of which several may stand for one function.

    Parameters
    ----------
    addresses : array of uint64
        Rising.
    names : sequence of bytes
    indirect : array of bool
        Whether a symbol's code only chooses the code that is called (STT_GNU_IFUNC).
    """

    addresses: npt.NDArray[np.uint64]
    names: Sequence[bytes]
    indirect: npt.NDArray[np.bool_]

    def at(self, address: int) -> Sequence[bytes]:
        """The names of what begins at an address."""
        low, high = np.searchsorted(self.addresses, np.array([address, address + 1], np.uint64))
        return self.names[int(low) : int(high)]


_NOTHING = np.empty(0, np.uint64)
_NO_ALIASES = Aliases(_NOTHING, (), np.empty(0, bool))


@dataclass(frozen=True)
class Symbols:
    """Functions of one file, by rising address.

    Parameters
    ----------
    addresses, ends : array of uint64
        Where each function begins and ends, as virtual addresses of the file.
    names : sequence of bytes
        Of several names for one function the one that programmers call it by.
    segments : tuple of (offset, file bytes, virtual address)
        How offsets in the file become virtual addresses.
    build_id : str
        Hexadecimal, empty where the file has none.
    aliases : Aliases
        All names of these functions.
    sources : sequence of bytes
        The file that each was written in, where no other sees it; empty where others do, or where
        nothing is said of it.
    """

    addresses: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.uint64]
    names: Sequence[bytes]
    segments: tuple[tuple[int, int, int], ...]
    build_id: str = ""
    aliases: Aliases = field(default=_NO_ALIASES, repr=False)
    sources: Sequence[bytes] = ()

    def virtual_addresses(self, offsets: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Virtual addresses of offsets in the file; an offset in no segment stays as it is."""
        addresses = offsets.copy()
        for offset, size, address in self.segments:
            inside = (offsets >= offset) & (offsets < offset + size)
            addresses[inside] = offsets[inside] - np.uint64(offset) + np.uint64(address)
        return addresses

    def function_indices(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Which function each virtual address is in, the innermost where several are; -1: none."""
        if not len(self.addresses):
            return np.full(len(addresses), -1)
        index = np.searchsorted(self.addresses, addresses, side="right").astype(np.int64) - 1
        while True:
            outside = (index >= 0) & (addresses >= self.ends[np.maximum(index, 0)])
            if not outside.any():
                return index
            index[outside] = self._enclosing[index[outside]]

    @cached_property
    def _enclosing(self) -> npt.NDArray[np.int64]:
        """For each function the one that it lies in, as hand-written assembler has them; or -1."""
        found = np.full(len(self.addresses), -1)
        if (self.ends[:-1] <= self.addresses[1:]).all():
            return found
        open_ones: list[tuple[int, int]] = []
        spans = zip(self.addresses.tolist(), self.ends.tolist(), strict=True)
        for number, (begin, end) in enumerate(spans):
            while open_ones and open_ones[-1][0] <= begin:
                open_ones.pop()
            if open_ones:
                found[number] = open_ones[-1][1]
            open_ones.append((end, number))
        return found


NO_SYMBOLS = Symbols(_NOTHING, _NOTHING, (), ())


def read_symbols(path: str) -> Symbols:
    """The functions of an ELF file, with those of its separate debug file where that is installed.

    A file that is gone, is not ELF, or is damaged has none.
    """
    return from_elf(path, lambda elf: symbols_of(elf, path), NO_SYMBOLS)


def symbols_of(elf: ElfFile, path: str = "") -> Symbols:
    """The same of a file that is open, at a path where its separate file can be found from."""
    segments = tuple(
        (segment.offset, segment.file_bytes, segment.address)
        for segment in elf.segments_of(LOADED_SEGMENT)
    )
    found = _functions(elf, ".symtab")
    if not len(found[0]):
        separate = separate_file(path) if path else None
        if separate is not None:
            found = from_elf(separate, lambda other: _functions(other, ".symtab"), found)
    if not len(found[0]):
        found = _together(_functions(elf, ".dynsym"), _packed_functions(elf))
        found = _together(found, _runtime_functions(elf))
    entries, strings = found
    if not entries["size"].all():
        entries["limit"] = np.minimum(entries["limit"], next_starts(elf, entries["value"]))
    return _sorted(entries, strings, segments, elf.build_id)


_Found = tuple[npt.NDArray[np.void], bytes]


def _functions(elf: ElfFile, name: str) -> _Found:
    section = elf.section(name)
    if section is None or not section.is_in_file:
        return _NO_ENTRIES, b""
    table = np.frombuffer(elf.data(section), _SYMBOLS[elf.bits])
    kind = table["info"] & 0xF
    wanted = ((kind == _FUNCTION) | (kind == _INDIRECT)) & (table["section"] != 0)
    files = _files(table)[wanted]
    table = table[wanted]
    entries = np.empty(len(table), _ENTRIES)
    entries["file"] = files
    for part in ("value", "size", "name", "info"):
        entries[part] = table[part]
    entries["limit"] = _section_ends(elf)[table["section"]] if len(table) else 0
    return entries, elf.data(elf.sections[section.link])


def _files(table: npt.NDArray[np.void]) -> npt.NDArray[np.uint64]:
    """For each symbol where the name of its source stands; 0 where others see it, or none is told.

    Symbols that one source alone sees follow that of the source itself.
    """
    is_file = (table["info"] & 0xF) == _FILE
    last = np.maximum.accumulate(np.where(is_file, np.arange(len(table)), 0))
    is_local = (table["info"] >> _KIND_BITS) == _LOCAL
    named = is_local & np.logical_or.accumulate(is_file) & ~is_file
    return np.where(named, table["name"][last], 0).astype(np.uint64)


def _section_ends(elf: ElfFile) -> npt.NDArray[np.uint64]:
    """Where each section ends, by its number; those that are none never end."""
    ends = np.full(2**16, _NEVER, np.uint64)
    for number, section in enumerate(elf.sections):
        if 0 < number < _FIRST_RESERVED_SECTION:
            ends[number] = min(section.address + section.size, _NEVER)
    return ends


def _packed_functions(elf: ElfFile) -> _Found:
    """Those of `.gnu_debugdata`: a packed ELF file with the symbols that were stripped.

    What is damaged, or unpacks to more than symbols need, has none.
    """
    section = elf.section(".gnu_debugdata")
    if section is None:
        return _NO_ENTRIES, b""
    unpacker = lzma.LZMADecompressor(memlimit=_LARGEST_UNPACKED_BYTES)
    try:
        data = unpacker.decompress(elf.data(section), _LARGEST_UNPACKED_BYTES)
    except lzma.LZMAError:
        return _NO_ENTRIES, b""
    if not unpacker.eof:
        return _NO_ENTRIES, b""
    symbols = io.BytesIO(data)
    return from_open_elf(symbols, lambda elf: _functions(elf, ".symtab"), (_NO_ENTRIES, b""))


def _runtime_functions(elf: ElfFile) -> _Found:
    """Those that the runtime of Go knows, of a program that was stripped."""
    found = go_functions(elf)
    if found is None or not len(found.addresses):
        return _NO_ENTRIES, b""
    entries = np.zeros(len(found.addresses), _ENTRIES)
    entries["value"], entries["name"] = found.addresses, found.names
    entries["size"] = np.diff(np.append(found.addresses, np.uint64(found.end)))
    entries["info"] = _FUNCTION
    return entries, found.strings


def _together(one: _Found, other: _Found) -> _Found:
    moved = other[0].copy()
    moved["name"] += len(one[1])
    moved["file"][moved["file"] > 0] += len(one[1])
    return np.concatenate((one[0], moved)), one[1] + other[1]


def _sorted(
    entries: npt.NDArray[np.void],
    strings: bytes,
    segments: tuple[tuple[int, int, int], ...],
    build_id: str,
) -> Symbols:
    if not len(entries):
        return Symbols(_NOTHING, _NOTHING, (), segments, build_id)
    entries = entries[np.lexsort((entries["size"], entries["value"]))]
    names = SymbolNames(strings, entries["name"])
    indirect = (entries["info"] & 0xF) == _INDIRECT
    begins = np.flatnonzero(np.append(True, np.diff(entries["value"]) != 0))
    counts = np.diff(np.append(begins, len(entries)))
    # Of several names for one address the largest comes last; its size is that of all.
    largest = begins + counts - 1
    chosen = largest.copy()
    for group in np.flatnonzero(counts > 1).tolist():
        begin = int(begins[group])
        rows = range(begin, begin + int(counts[group]))
        chosen[group] = max(rows, key=lambda row: _rank(entries[row], names[row]))
    addresses = entries["value"][begins]
    following = np.append(addresses[1:], np.uint64(_NEVER))
    # Hand-written assembler often gives no size: it goes to the next symbol then, or to the end.
    sizes = entries["size"][largest]
    limits = np.minimum(following, entries["limit"][largest])
    ends = np.where(sizes > 0, addresses + sizes, np.maximum(limits, addresses))
    aliases = Aliases(entries["value"], names, indirect)
    own_names = SymbolNames(strings, entries["name"][chosen])
    files = entries["file"][chosen]
    # Where there is none: the empty text behind all others.
    files = np.where(files > 0, files, np.uint64(len(strings)))
    sources = SymbolNames(strings + b"\0", files)
    return Symbols(addresses, ends, own_names, segments, build_id, aliases, sources)


def _rank(entry: np.void, name: bytes) -> tuple[bool, bool, int, int]:
    """Of several names that is shown which has a size, is not local, and is the plainest."""
    is_global = int(entry["info"]) >> _KIND_BITS != _LOCAL
    underscores = len(name) - len(name.lstrip(b"_"))
    return int(entry["size"]) > 0, is_global, -underscores, -len(name)
