"""Static probes in the notes of programs."""

from __future__ import annotations

import struct

from steelyard.profile.symbols.static_probes import StaticProbe, _probes, static_probes


def note(place: int, base: int, semaphore: int, words: bytes) -> bytes:
    body = struct.pack("<QQQ", place, base, semaphore) + words
    head = struct.pack("<III", 8, len(body), 3) + b"stapsdt\0"
    return head + body + b"\0" * (-len(body) % 4)


SEGMENTS = [(0x1000, 0x1000, 0x401000), (0x3000, 0x100, 0x404000)]


def test_probes_are_found_by_name_at_their_offsets_in_the_file() -> None:
    data = note(0x401010, 0x402000, 0, b"app\0start\0-4@%edi\0")
    data += note(0x401020, 0x402000, 0x404008, b"app\0end\0\0")
    assert _probes(data, SEGMENTS, 0x402000) == [
        StaticProbe("app:start", 0x1010, 0),
        StaticProbe("app:end", 0x1020, 0x3008),
    ]


def test_code_that_was_moved_after_linking_is_followed() -> None:
    data = note(0x400010, 0x401000, 0, b"app\0start\0\0")
    assert _probes(data, SEGMENTS, 0x402000) == [StaticProbe("app:start", 0x1010, 0)]


def test_what_is_no_elf_file_has_none(tmp_path) -> None:
    (tmp_path / "text").write_text("no program")
    assert static_probes(str(tmp_path / "text")) == ()
