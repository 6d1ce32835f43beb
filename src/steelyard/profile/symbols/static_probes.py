"""The static probes (USDT) that a program or library has, by its notes.

Format: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from steelyard.core.elf_file import LOADED_SEGMENT, ElfFile, from_elf


@dataclass(frozen=True)
class StaticProbe:
    """A probe by ``provider:name``, where it is in the file, and where its semaphore is (0: it has
    none)."""

    name: str
    offset: int
    semaphore_offset: int


def static_probes(path: str) -> tuple[StaticProbe, ...]:
    """The probes of an ELF file; none where it is no such file or has none."""
    return from_elf(path, _probes_of, ())


def _probes_of(elf: ElfFile) -> tuple[StaticProbe, ...]:
    section = elf.section(".note.stapsdt")
    if section is None:
        return ()
    segments = [
        (segment.offset, segment.file_bytes, segment.address)
        for segment in elf.segments_of(LOADED_SEGMENT)
    ]
    base = elf.section(".stapsdt.base")
    found_base = 0 if base is None else base.address
    return tuple(_probes(elf.data(section), segments, found_base))


def _probes(data: bytes, segments: list[tuple[int, int, int]], base: int) -> list[StaticProbe]:
    found: list[StaticProbe] = []
    at = 0
    while at + 12 <= len(data):
        name_size, size, _ = struct.unpack_from("<III", data, at)
        start = at + 12 + (name_size + 3) // 4 * 4
        place, linked_base, semaphore = struct.unpack_from("<QQQ", data, start)
        provider, name = data[start + 24 : start + size].split(b"\0")[:2]
        # Prelinking moves the code but not the notes.
        moved = base - linked_base if base else 0
        found.append(
            StaticProbe(
                f"{provider.decode()}:{name.decode()}",
                _offset(place + moved, segments),
                _offset(semaphore + moved, segments) if semaphore else 0,
            )
        )
        at = start + (size + 3) // 4 * 4
    return found


def _offset(address: int, segments: list[tuple[int, int, int]]) -> int:
    for offset, size, start in segments:
        if start <= address < start + size:
            return address - start + offset
    return address
