"""The one reader of ELF files, beside pyelftools, and against files that no linker wrote."""

from __future__ import annotations

import io
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile as IndependentFile

from steelyard.core.elf_file import (
    COMPRESSED,
    ElfFile,
    NotElfError,
    TextTable,
    from_elf,
    from_open_elf,
)

FILES = Path(__file__).parents[2] / "data" / "elf"
PROGRAMS = [
    *sorted(map(str, FILES.iterdir())),
    *(path for path in ("/bin/sh", "/bin/ls", sys.executable) if Path(path).is_file()),
]


def described(elf: Any) -> tuple[list[Any], list[Any], list[bytes]]:
    fields = ("sh_flags", "sh_addr", "sh_offset", "sh_size", "sh_link", "sh_info")
    sections = [(each.name, *(each[field] for field in fields)) for each in elf.iter_sections()]
    parts = ("p_flags", "p_offset", "p_vaddr", "p_filesz", "p_memsz")
    segments = [tuple(each[field] for field in parts) for each in elf.iter_segments()]
    # pyelftools gives zeros for what is not in the file, and unpacks what is compressed.
    plain = [s for s in elf.iter_sections() if s["sh_type"] != "SHT_NOBITS" and not s.compressed]
    return sections, segments, [each.data() for each in plain if each.data_size]


@pytest.mark.parametrize("path", PROGRAMS)
def test_sections_segments_and_contents_are_those_that_pyelftools_reads(path: str) -> None:
    with open(path, "rb") as file, open(path, "rb") as again:
        elf = ElfFile(file)
        sections, segments, contents = described(IndependentFile(again))
        assert [
            (s.name, s.flags, s.address, s.offset, s.size, s.link, s.info) for s in elf.sections
        ] == sections
        assert [
            (s.flags, s.offset, s.address, s.file_bytes, s.memory_bytes) for s in elf.segments
        ] == segments
        plain = [s for s in elf.sections if s.is_in_file and not s.flags & COMPRESSED]
        assert [elf.data(s) for s in plain if s.size] == contents


def test_the_build_id_is_that_which_pyelftools_reads() -> None:
    path = sys.executable
    with open(path, "rb") as file:
        notes = [
            str(note["n_desc"])
            for segment in IndependentFile(file).iter_segments("PT_NOTE")
            for note in segment.iter_notes()
            if note["n_type"] == "NT_GNU_BUILD_ID"
        ]
    assert from_elf(path, lambda elf: [elf.build_id] if elf.build_id else [], None) == notes[:1]


def file_of(bits: int, order: str, names: bytes, starts: list[int], **shape: int) -> bytes:
    """A file with a section for each place in the table of names, which the last section is."""
    row = struct.Struct(order + ("IIQQQQIIQQ" if bits == 64 else "IIIIIIIIII"))
    header = struct.Struct(order + ("HHIQQQIHHHHHH" if bits == 64 else "HHIIIIIHHHHHH"))
    rows_at = 16 + header.size + len(names)
    told = {"count": len(starts) + 1, "index": len(starts), **shape}
    start = bytes([0x7F, *b"ELF", bits // 32, 1 if order == "<" else 2, 1, *bytes(9)])
    fields = (2, 40, 1, 0, 0, rows_at, 0, 0, 0, 0, row.size, told["count"], told["index"])
    rows = [row.pack(at, 1, 6, 7, 0, 5, 0, 0, 0, 0) for at in starts]
    rows.append(row.pack(0, 3, 0, 0, 16 + header.size, len(names), 0, 0, 0, 0))
    return start + header.pack(*fields) + names + b"".join(rows)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_word_sizes_and_byte_orders_are_read(bits: int, order: str) -> None:
    data = file_of(bits, order, b"\0.text\0", [1])
    elf = ElfFile(io.BytesIO(data))
    assert (elf.bits, elf.kind, elf.machine) == (bits, 2, 40)
    found = elf.section(".text")
    assert found is not None
    assert (found.flags, found.address) == (6, 7)
    assert elf.data(found, most_bytes=3) == b"\x7fEL"


def test_more_sections_than_the_header_can_count_are_read() -> None:
    plain = file_of(64, "<", b"\0.s\0", [1] * 70_000, count=0, index=0xFFFF)
    rows = len(plain) - 70_001 * 64
    data = bytearray(plain)
    struct.pack_into("<Q", data, rows + 32, 70_001)  # How many there are,
    struct.pack_into("<I", data, rows + 40, 70_000)  # and which has their names.
    elf = ElfFile(io.BytesIO(bytes(data)))
    assert len(elf.sections) == 70_001
    assert elf.sections[69_999].name == ".s"


def test_a_file_of_names_within_names_does_not_fill_the_memory() -> None:
    names = b"x" * 100_000
    data = file_of(64, "<", names, list(range(2_000)))
    assert from_open_elf(io.BytesIO(data), lambda elf: elf.sections, None) is None


def test_one_name_may_be_that_of_many() -> None:
    table = TextTable(b"\0" + b"name" * 8 + b"\0")
    assert {table.at(1) for _ in range(10_000)} == {"name" * 8}


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(20), b"#!/bin/sh\n"])
def test_what_is_no_elf_file_is_refused(data: bytes) -> None:
    with pytest.raises(NotElfError):
        ElfFile(io.BytesIO(data))


def test_a_file_cut_at_any_place_has_less_or_nothing() -> None:
    whole = file_of(64, "<", b"\0.text\0.data\0", [1, 7])
    names = [".text", ".data", ""]
    for kept in range(len(whole)):
        found = from_open_elf(
            io.BytesIO(whole[:kept]), lambda elf: [each.name for each in elf.sections], None
        )
        assert found is None or found == names


def test_a_section_that_claims_more_than_the_file_has_ends_with_the_file() -> None:
    data = bytearray(file_of(64, "<", b"\0.text\0", [1]))
    rows = len(data) - 2 * 64
    struct.pack_into("<Q", data, rows + 32, 2**63)
    elf = ElfFile(io.BytesIO(bytes(data)))
    assert elf.data(elf.sections[0]) == bytes(data)


def test_segments_that_are_counted_in_sections_which_are_not_there_are_refused() -> None:
    head = bytearray(Path(PROGRAMS[-1]).read_bytes()[:64])
    head[40:48] = bytes(8)  # e_shoff
    head[56:58], head[60:62] = b"\xff\xff", bytes(2)  # e_phnum (PN_XNUM), e_shnum
    with pytest.raises(NotElfError):
        _ = ElfFile(io.BytesIO(head)).segments
