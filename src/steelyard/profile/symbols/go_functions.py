"""The functions of a Go program by the table of its own runtime, which stripping leaves.

The table is `.gopclntab`, as `debug/gosym` of Go's library reads it, of Go 1.18 and later.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
# Of Go 1.18 and 1.20; both lay the parts out that are read here in the same way.
_MAGICS = (0xFFFFFFF0, 0xFFFFFFF1)
_HEAD = struct.Struct("<IHBB")
_WORDS = {4: struct.Struct("<8I"), 8: struct.Struct("<8Q")}
_ENTRY = np.dtype([("address", "<u4"), ("data", "<u4")])
_NAME_AT = 4


class GoFunctions(NamedTuple):
    """Where functions begin, where the last one ends, and their names: offsets in `strings`."""

    addresses: npt.NDArray[np.uint64]
    end: int
    names: npt.NDArray[np.uint64]
    strings: bytes


def go_functions(elf: Any) -> GoFunctions | None:
    """The functions of an opened ELF file; None where it has no such table, or another one.

    What the compiler inlined is not among them: it counts for the functions that it was inlined
    into.
    """
    found = (elf.get_section_by_name(name) for name in _SECTIONS)
    section = next((section for section in found if section is not None), None)
    text = elf.get_section_by_name(".text")
    if section is None or text is None:
        return None
    data = section.data()
    magic, _, _, word_bytes = _HEAD.unpack_from(data)
    if magic not in _MAGICS or word_bytes not in _WORDS:
        return None
    words = _WORDS[word_bytes].unpack_from(data, _HEAD.size)
    count, _, text_start, names_at, *_, functions_at = words
    # Newer linkers leave the start of the code to the runtime.
    start = text_start or text["sh_addr"]
    table = np.frombuffer(data, _ENTRY, count, functions_at)
    (size,) = struct.unpack_from("<I", data, functions_at + count * _ENTRY.itemsize)
    places = functions_at + table["data"].astype(np.int64) + _NAME_AT
    if len(places) and int(places.max()) + _NAME_AT > len(data):
        return None
    raw = np.frombuffer(data, np.uint8)
    names = sum(raw[places + byte].astype(np.uint64) << np.uint64(8 * byte) for byte in range(4))
    addresses = table["address"].astype(np.uint64) + np.uint64(start)
    return GoFunctions(addresses, start + size, np.asarray(names, np.uint64), data[names_at:])
