import os
import random
import subprocess

import numpy as np
import pytest

from steelyard.profile.symbols.demangling import readable_name
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.inlined_code import debug_source
from steelyard.profile.symbols.perf_map import read_perf_map
from steelyard.profile.symbols.static_probes import static_probes
from tests.needs import need

SOURCE = """
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
int shown(int x) { return hidden(x) + 1; }
namespace room { int inside(int x) { return shown(x); } }
int main() { return room::inside(2); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    need("g++")
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "a.cpp").write_text(SOURCE)
    command = ["g++", "-O1", "-fno-inline", "a.cpp", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "program"


def test_functions_of_a_program_are_found_by_their_addresses(program):
    symbols = read_symbols(str(program))
    names = [readable_name(name) for name in symbols.names]
    for wanted in ("main", "shown(int)", "hidden(int)", "room::inside(int)"):
        at = names.index(wanted)
        inside = np.array([symbols.addresses[at], symbols.ends[at] - np.uint64(1)], np.uint64)
        assert symbols.function_indices(inside).tolist() == [at, at]


def test_functions_of_a_program_of_32_bits_are_found(tmp_path):
    need("gcc", "nm")
    (tmp_path / "a.c").write_text("int twice(int x) { return x * 2; } void _start(void) {}\n")
    # Without any library: those for 32 bits are seldom installed.
    options = ["-m32", "-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-pic", "-no-pie"]
    command = ["gcc", *options, "a.c", "-o", "program"]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("this compiler makes no programs of 32 bits")
    symbols = read_symbols(str(tmp_path / "program"))
    assert set(symbols.names) == {b"twice", b"_start"}
    told = subprocess.run(["nm", "program"], cwd=tmp_path, capture_output=True, check=True).stdout
    for name, address in zip(symbols.names, symbols.addresses.tolist(), strict=True):
        assert b"%08x T %s\n" % (address, name) in told


def test_an_offset_in_the_file_becomes_the_address_that_nm_prints(program):
    symbols = read_symbols(str(program))
    offset, _, address = next(s for s in symbols.segments if s[2] > 0 and s[1] > 16)
    assert symbols.virtual_addresses(np.array([offset + 8], np.uint64)).tolist() == [address + 8]


def test_a_stripped_program_has_no_functions_of_its_own(program):
    stripped = program.with_name("stripped")
    subprocess.run(["strip", str(program), "-o", str(stripped)], check=True)
    symbols = read_symbols(str(stripped))
    assert "main" not in [readable_name(name) for name in symbols.names]
    assert symbols.build_id == read_symbols(str(program)).build_id


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF\x02\x01\x01" + b"\0" * 20])
def test_what_is_no_program_has_no_symbols(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert len(read_symbols(str(path)).addresses) == 0


def test_a_program_that_was_damaged_is_read_or_has_no_symbols(program, tmp_path):
    whole = program.read_bytes()
    drawn = random.Random(1)
    path = tmp_path / "damaged"
    sections = int.from_bytes(whole[40:48], "little")
    for _ in range(300):
        data = bytearray(whole)
        # In the heads of the file, of its segments or of its sections, or anywhere.
        first, last = drawn.choice([(16, 64), (64, 800), (sections, len(data)), (16, len(data))])
        at, size = drawn.randrange(first, last), drawn.choice([1, 2, 4, 8])
        data[at : at + size] = drawn.choice([b"\0" * size, b"\xff" * size, drawn.randbytes(size)])
        path.write_bytes(data)
        symbols = read_symbols(str(path))
        assert len(symbols.names) == len(symbols.addresses)
        debug_source(str(path))
        static_probes(str(path))


def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert read_symbols(str(path)).names == ()
    assert read_perf_map(str(path)).names == ()


def test_lines_of_a_map_that_are_beyond_all_addresses_are_left_out(tmp_path):
    path = tmp_path / "perf-5.map"
    lines = ["10000000000000000 20 huge", "-5 20 x", "5 -2 y", "fffffffffffffff0 20 z", "10 4 good"]
    path.write_text("\n".join(lines))
    symbols = read_perf_map(str(path))
    assert symbols.names == [b"good"]
    assert symbols.ends.tolist() == [0x14]


def test_a_map_of_a_just_in_time_compiler_names_its_code(tmp_path):
    path = tmp_path / "perf-5.map"
    path.write_text("1000 20 first part\nnonsense\n1020 10 second\n1000 8 first again\n")
    symbols = read_perf_map(str(path))
    addresses = np.array([0x1004, 0x1008, 0x1025, 0x1030], np.uint64)
    found = symbols.function_indices(addresses)
    names = [symbols.names[i].decode() if i >= 0 else None for i in found]
    assert names == ["first again", None, "second", None]


def test_a_name_of_a_map_may_hold_what_unicode_takes_for_the_end_of_a_line(tmp_path):
    path = tmp_path / "perf-5.map"
    path.write_text("1000 20 LazyCompile:*a\u2028b\x0cc x.js:1\n1020 10 second\n", encoding="utf-8")
    symbols = read_perf_map(str(path))
    assert [name.decode() for name in symbols.names] == [
        "LazyCompile:*a\u2028b\x0cc x.js:1",
        "second",
    ]
