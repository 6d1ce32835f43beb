"""Symbols that were stripped and packed beside the program: `.gnu_debugdata` (MiniDebugInfo)."""

from __future__ import annotations

import lzma
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from steelyard.profile.symbols.elf_symbols import read_symbols
from tests.needs import need

SOURCE = """
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
int main(int count, char **words) { return words[0][0] + hidden(count); }
"""
BOMB_BYTES = 1 << 29


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program and, beside it, `symbols`: all that stripping takes away."""
    need("gcc", "objcopy", "strip")
    (tmp_path / "a.c").write_text(SOURCE)
    for words in (
        ("gcc", "-O1", "a.c", "-o", "program"),
        ("objcopy", "--only-keep-debug", "program", "symbols"),
        ("strip", "program"),
    ):
        subprocess.run(words, cwd=tmp_path, check=True)
    return tmp_path / "program"


def pack(program: Path, packed: bytes) -> None:
    (program.parent / "packed").write_bytes(packed)
    words = ("objcopy", "--add-section", ".gnu_debugdata=packed", "program")
    subprocess.run(words, cwd=program.parent, check=True)


def bomb() -> bytes:
    """Zeros without end, in little space."""
    packer, block = lzma.LZMACompressor(preset=0), bytes(1 << 20)
    parts = [packer.compress(block) for _ in range(BOMB_BYTES // len(block))]
    return b"".join((*parts, packer.flush()))


def test_functions_of_a_stripped_program_are_named_by_its_packed_symbols(program: Path) -> None:
    assert b"hidden" not in read_symbols(str(program)).names
    pack(program, lzma.compress((program.parent / "symbols").read_bytes()))
    assert b"hidden" in read_symbols(str(program)).names


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"\xfd7zXZ\x00 but no more",
        lambda whole: lzma.compress(whole)[:-40],
        lambda whole: lzma.compress(whole[:100]),
        lambda whole: lzma.compress(whole[: len(whole) // 2]),
        lambda whole: lzma.compress(b"no program"),
        lambda whole: lzma.compress(b""),
    ],
    ids=["empty", "not-packed", "cut", "header-alone", "half", "text", "nothing"],
)
def test_packed_symbols_that_are_damaged_leave_the_others(program: Path, damage: object) -> None:
    assert callable(damage)
    pack(program, damage((program.parent / "symbols").read_bytes()))
    found = read_symbols(str(program))
    assert b"hidden" not in found.names
    # Without its segments no place in the file is known.
    assert found.segments


def test_packed_symbols_that_would_fill_the_memory_are_left_out(program: Path) -> None:
    pack(program, bomb())
    tracemalloc.start()
    try:
        assert b"hidden" not in read_symbols(str(program)).names
        assert tracemalloc.get_traced_memory()[1] < 0.75 * BOMB_BYTES
    finally:
        tracemalloc.stop()
