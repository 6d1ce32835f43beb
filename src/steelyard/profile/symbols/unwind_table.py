"""Where functions begin, by the table that unwinders search, which stripping leaves."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from steelyard.core.elf_file import ElfFile

# Linux Standard Base 5.0, core, 10.6.2: version, and how what follows is encoded.
_HEAD = struct.Struct("<BBBB")
_VERSION, _RELATIVE_TO_TABLE, _FOUR_BYTES, _UNSIGNED = 1, 0x3B, 0x0B, 0x03
_AT_HAND = 0x0F
_COUNT = struct.Struct("<I")
_FIRST = np.dtype([("begin", "<i4"), ("entry", "<i4")])


def next_starts(elf: ElfFile, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """For each address where the next function begins, with or without a symbol.

    A symbol that has no size would name the functions behind it, whose symbols were stripped.
    """
    starts = np.append(unwind_starts(elf), np.uint64(2**64 - 1))
    return starts[np.searchsorted(starts[:-1], addresses, side="right")]


def unwind_starts(elf: ElfFile) -> npt.NDArray[np.uint64]:
    """The addresses that functions of an opened ELF file begin at, rising.

    They are those of `.eh_frame_hdr` as linkers write it: numbers of four bytes, counted from the
    section's own address. None where it is not there, or is otherwise.
    """
    nothing = np.empty(0, np.uint64)
    section = elf.section(".eh_frame_hdr")
    if section is None or not section.is_in_file:
        return nothing
    data = elf.data(section)
    if len(data) < _HEAD.size + 2 * _COUNT.size:
        return nothing
    version, frame, counted, table = _HEAD.unpack_from(data)
    is_known = frame & _AT_HAND in (_FOUR_BYTES, _UNSIGNED) and counted == _UNSIGNED
    if version != _VERSION or table != _RELATIVE_TO_TABLE or not is_known:
        return nothing
    (count,) = _COUNT.unpack_from(data, _HEAD.size + _COUNT.size)
    begin = _HEAD.size + 2 * _COUNT.size
    count = min(count, (len(data) - begin) // _FIRST.itemsize)
    entries = np.frombuffer(data, _FIRST, count, begin)
    starts = entries["begin"].astype(np.int64) + np.int64(section.address % 2**63)
    return np.sort(starts[starts >= 0]).astype(np.uint64)
