"""What a program with clones says of them: which function each is a copy of."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from steelyard.core.elf_file import ElfFile, from_elf

# Not allocated: a clone and its original, a row each.
ORIGINAL_SECTION = ".steelyard.originals"
_ROW = struct.Struct("<QQ")


def originals_of(program: str) -> dict[int, int]:
    """The clones of a program, with their originals; none of what is no program.

    Parameters
    ----------
    program : str
        Its file.
    """

    def rows(elf: ElfFile) -> bytes:
        section = elf.section(ORIGINAL_SECTION)
        return b"" if section is None else elf.data(section)

    found = from_elf(program, rows, b"")
    whole = found[: len(found) // _ROW.size * _ROW.size]
    return dict(_ROW.iter_unpack(whole))


def original_rows(originals: Mapping[int, int]) -> bytes:
    """The section that names the originals of clones."""
    return b"".join(_ROW.pack(*row) for row in sorted(originals.items()))
