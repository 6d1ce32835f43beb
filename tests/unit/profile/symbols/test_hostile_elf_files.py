"""ELF files that claim more than they hold: nothing of them, at once, and no full disk."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import pytest

from steelyard.build.elf_functions import read_elf_functions
from steelyard.core.elf_file import NotElfError, from_open_elf
from steelyard.profile.symbols.debug_sections import debug_sections
from steelyard.profile.symbols.elf_symbols import read_symbols

FILES = Path(__file__).parents[3] / "data" / "elf"
_SECTION = struct.Struct("<IIQQQQIIQQ")


def elf(data: bytes, *, flags: int = 0, kind: int = 1, copies: int = 1, **header: int) -> bytes:
    """A file of 64 bits whose sections all have these bytes, and the name .debug_info."""
    names = b"\0.debug_info\0.shstrtab\0"
    start = 64 + len(data) + len(names)
    sections = [_SECTION.pack(*[0] * 10)]
    sections += [_SECTION.pack(1, kind, flags, 0, 64, len(data), copies + 1, 0, 1, 24)] * copies
    sections += [_SECTION.pack(13, 3, 0, 0, 64 + len(data), len(names), 0, 0, 1, 0)]
    field = {"shoff": start, "shentsize": 64, "shnum": len(sections), "shstrndx": copies + 1}
    field |= header
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHH", 3, 62, 1, 0, 0, field["shoff"], 0, 64, 56, 0, 64)
    head = head[:58] + struct.pack("<HHH", *(field[n] for n in ("shentsize", "shnum", "shstrndx")))
    return head + data + names + b"".join(sections)


def written(folder: Path, data: bytes) -> str:
    path = folder / "hostile.so"
    path.write_bytes(data)
    return str(path)


def packed(plain: bytes) -> bytes:
    return struct.pack("<IIQQ", 1, 0, len(plain), 1) + zlib.compress(plain, 9)


def test_a_packed_section_is_read(tmp_path):
    (found,) = debug_sections(written(tmp_path, elf(packed(b"abc"), flags=0x800)), str(tmp_path))
    assert Path(found.path).read_bytes() == b"abc"


def test_a_packed_section_that_is_damaged_is_empty(tmp_path):
    damaged = packed(b"abc" * 100)[:-4] + b"\0\0\0\0"
    (found,) = debug_sections(written(tmp_path, elf(damaged, flags=0x800)), str(tmp_path))
    assert found.size == 0


def test_sections_that_unpack_to_far_more_than_the_file_has_fill_no_disk(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    path = written(tmp_path, elf(packed(bytes(30 << 20)), flags=0x800, copies=200))
    debug_sections(path, str(kept))
    assert sum(file.stat().st_size for file in kept.iterdir()) <= 64 << 20


HEADERS = {
    "no end": {"shnum": 0, "shentsize": 0},
    "a place that no file has": {"shoff": 2**64 - 8},
    "headers beyond the file": {"shnum": 60_000},
    "headers of no size": {"shentsize": 0},
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_the_file_does_not_hold_are_no_elf_file(name, tmp_path):
    data = elf(b"\xff" * 512, **HEADERS[name])
    if name == "no end":  # The first section says how many there are.
        at = int.from_bytes(data[40:48], "little")
        data = data[: at + 32] + struct.pack("<Q", 2**62) + data[at + 40 :]
    with pytest.raises(NotElfError):
        read_elf_functions(io.BytesIO(data))
    assert from_open_elf(io.BytesIO(data), lambda elf: elf.sections, None) is None
    read_symbols(written(tmp_path, data))


def test_symbols_are_those_of_one_table_however_often_it_is_named():
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 64, 8)
    found = read_elf_functions(io.BytesIO(elf(symbol * 2000, kind=2, copies=3000)))
    assert len(found.functions) <= 2000


def test_a_name_that_nothing_ends_goes_to_the_end_of_its_table(tmp_path):
    symbol = struct.pack("<IBBHQQ", 13, 0x12, 0, 1, 64, 8)
    data = bytearray(elf(symbol * 2, kind=2).replace(b".debug_info", b".symtab" + bytes(4)))
    size_at = len(data) - 64 + 32
    size = struct.unpack_from("<Q", data, size_at)[0]
    struct.pack_into("<Q", data, size_at, size - 1)
    found = read_symbols(written(tmp_path, bytes(data)))
    assert list(found.names) == [b".shstrtab"]
