"""Source lines of addresses, by line tables that compilers write."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from steelyard.core.elf_file import from_elf
from steelyard.profile.symbols import source_lines as lines_of
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.line_table import DamagedTableError, line_tables
from steelyard.profile.symbols.source_lines import source_lines
from tests.needs import need

PROGRAM = """\
volatile int sink;
__attribute__((noinline)) int called(int n) { return n + sink; }
static inline int put_in(int n) {
    return called(n) + 1;
}
int main(int count, char** words) {
    int sum = called(count);
    sum += put_in(sum);
    return sum + (words == 0);
}
"""
CODE_BYTES = 16


def built(folder: Path, *flags: str, compiler: str = "gcc") -> str:
    need(compiler)
    (folder / "program.c").write_text(PROGRAM)
    command = [compiler, "-O2", *flags, "program.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "program")


def code_of(program: str, *names: str) -> list[int]:
    found = read_symbols(program)
    starts = dict(zip(found.names, found.addresses.tolist(), strict=True))
    return [starts[name.encode()] + place for name in names for place in range(CODE_BYTES)]


@pytest.mark.parametrize(
    "flags",
    [
        *[("-gdwarf-2", "-gstrict-dwarf"), ("-gdwarf-3",), ("-gdwarf-4",), ("-gdwarf-5",)],
        *[("-g", "-gz"), ("-g", "-gdwarf64"), ("-g", "-no-pie"), ("-g", "-ffunction-sections")],
    ],
)
def test_lines_are_those_that_another_reader_finds(flags, tmp_path: Path):
    need("llvm-symbolizer")
    program = built(tmp_path, *flags)
    addresses = code_of(program, "called", "main")
    told = subprocess.run(
        ["llvm-symbolizer", f"--obj={program}", "--no-inlines", "--functions=none"],
        input="\n".join(map(hex, addresses)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    truth = [line.rpartition("/")[2].rpartition(":")[0] for line in told]
    found = source_lines(program, addresses)
    known = [pair for pair in zip(found, truth, strict=True) if "?" not in pair[1]]
    assert len(known) > CODE_BYTES
    assert all(own == other for own, other in known if not other.endswith(":0"))


def test_nothing_is_told_of_a_program_without_lines_or_with_very_many(tmp_path: Path, monkeypatch):
    plain = built(tmp_path)
    assert source_lines(plain, [1, 2]) == ["", ""]
    assert source_lines(str(tmp_path / "none"), [1]) == [""]
    program = built(tmp_path, "-g")
    addresses = code_of(program, "main")
    assert any(source_lines(program, addresses))
    monkeypatch.setattr(lines_of, "_MOST_BYTES", 8)
    assert not any(source_lines(program, addresses))


def test_a_damaged_table_gives_fewer_rows_and_no_other_error(tmp_path: Path):
    program = built(tmp_path, "-g")
    parts = {
        name: from_elf(program, lambda elf, name=name: elf.data(elf.section(name)), b"")
        for name in (".debug_line", ".debug_line_str", ".debug_str")
    }
    data = parts[".debug_line"]
    whole = [row for table in line_tables(data, parts) for row in table.rows()]
    assert all(row.address <= then.address for row, then in pairwise(whole) if not row.is_end)
    damaged = [data[:count] for count in range(0, len(data), 7)]
    damaged += [data[:at] + bytes([255]) + data[at + 1 :] for at in range(len(data))]
    damaged += [data[:at] + bytes([0]) + data[at + 1 :] for at in range(len(data))]
    for each in damaged:
        for table in line_tables(each, parts):
            try:
                list(table.rows())
            except DamagedTableError:
                continue
