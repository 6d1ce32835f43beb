"""The sections of debugging information of an ELF file, as parts of files without compression."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.core.elf_file import COMPRESSED, ElfFile, ElfSection, from_elf

_PREFIX, _OLD_PREFIX = ".debug_", ".zdebug_"
# As in elf(5) and the ELF gABI, "Section Compression".
_ZLIB, _ZSTD = 1, 2
# Debugging information compresses to a third or a tenth; what a file unpacks to at most.
_MOST_RATIO = 40
_LEAST_LIMIT_BYTES = 64 << 20
_HEADS = {32: struct.Struct("<III"), 64: struct.Struct("<IIQQ")}
# What gcc and binutils wrote before compression became a flag: "ZLIB", then the size.
_OLD_HEAD = struct.Struct(">4sQ")
_UNUSED = frozenset(
    f"{_PREFIX}{name}"
    for name in ("loc", "loclists", "macro", "macinfo", "frame", "pubnames", "pubtypes")
) | {f"{_PREFIX}gdb_scripts", f"{_PREFIX}gnu_pubnames", f"{_PREFIX}gnu_pubtypes"}


class Section(NamedTuple):
    """Where the bytes of a section are."""

    name: str
    path: str
    offset: int
    size: int


def debug_sections(path: str, folder: str) -> list[Section]:
    """The sections that tell which functions are where.

    Parameters
    ----------
    path : str
    folder : str
        Where compressed sections are put without their compression.

    Returns
    -------
    list of Section
        None where the file is gone, is damaged, or has no debugging information.
    """
    return from_elf(path, lambda elf: list(_sections_of(elf, path, folder)), [])


def _sections_of(elf: ElfFile, path: str, folder: str) -> Iterator[Section]:
    left_bytes = max(_LEAST_LIMIT_BYTES, _MOST_RATIO * os.path.getsize(path))
    for section in elf.sections:
        name = section.name
        wanted = name.startswith((_PREFIX, _OLD_PREFIX))
        if not wanted or not section.is_in_file or name.removesuffix(".dwo") in _UNUSED:
            continue
        if name.startswith(_OLD_PREFIX) or section.flags & COMPRESSED:
            plain = _decompressed(elf, section, left_bytes)
            left_bytes -= len(plain)
            kept = os.path.join(folder, f"{len(os.listdir(folder))}{name}")
            with open(kept, "wb") as file:
                file.write(plain)
            yield Section(name.replace(_OLD_PREFIX, _PREFIX), kept, 0, len(plain))
        else:
            yield Section(name, path, section.offset, section.size)


def _decompressed(elf: ElfFile, section: ElfSection, limit_bytes: int) -> bytes:
    """What a section holds; nothing where it is damaged, or is more than the limit."""
    data = elf.data(section)
    if section.name.startswith(_OLD_PREFIX):
        return _from_zlib(data[_OLD_HEAD.size :], limit_bytes)
    head = _HEADS[elf.bits]
    kind, *_, size, _ = head.unpack_from(data)
    if kind == _ZLIB:
        return _from_zlib(data[head.size :], limit_bytes)
    if kind == _ZSTD and size <= limit_bytes:
        return _from_zstd(data[head.size :], size)
    return b""


def _from_zlib(data: bytes, limit_bytes: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(data, max(1, limit_bytes))
    except zlib.error:
        return b""
    return plain if unpacker.eof else b""


def _from_zstd(data: bytes, size: int) -> bytes:
    import pyarrow

    return pyarrow.decompress(data, size, "zstd", asbytes=True)
