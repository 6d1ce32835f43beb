"""One section of a program, read without loading anything for it: not even the file."""

from __future__ import annotations

import struct
from typing import BinaryIO

# Of what is read of a section that is asked for.
_MOST_BYTES = 2**20


def elf_section(file: BinaryIO, name: bytes) -> bytes | None:
    """The start of the first section of this name; None where there is none.

    Of 64-bit little-endian files alone. Field offsets are those of Elf64_Ehdr and Elf64_Shdr in
    elf.h.

    Raises
    ------
    OSError
        The file cannot be read, or names a place in itself that no file has.
    """
    try:
        file.seek(0)
        header = file.read(64)
        if header[:6] != b"\x7fELF\x02\x01":
            return None
        (table,) = struct.unpack_from("<Q", header, 40)
        size, count, names_index = struct.unpack_from("<HHH", header, 58)
        file.seek(table)
        # A program with more has them beside what is looked for: none that `steelyard cc` linked.
        sections = file.read(min(size * count, _MOST_BYTES))
        names = _contents(file, sections, size * names_index)
        for start in range(0, size * count, size):
            (at,) = struct.unpack_from("<I", sections, start)
            if names.startswith(name + b"\0", at):
                return _contents(file, sections, start)
    except (struct.error, OverflowError, ValueError):
        return None
    return None


def _contents(file: BinaryIO, sections: bytes, start: int) -> bytes:
    offset, size = struct.unpack_from("<QQ", sections, start + 24)
    file.seek(offset)
    return file.read(min(size, _MOST_BYTES))
