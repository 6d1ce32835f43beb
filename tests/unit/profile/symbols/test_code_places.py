"""One name for a function, whatever the compiler made of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.profile.frame_table import FrameTable
from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.elf_symbols import read_symbols
from tests.needs import need

PARTS = """
volatile unsigned long sink;
static __attribute__((noinline, cold)) void rare(void) { sink = 0; }
static void step(unsigned long n) {
    if (n & 1) return;
    for (unsigned long i = 0; i < n; ++i) { sink += i; if (sink == 5) rare(); }
    for (unsigned long i = 0; i < n; ++i) { sink ^= i * 3; if (sink == 7) rare(); }
    for (unsigned long i = 0; i < n; ++i) { sink -= i * 5; if (sink == 9) rare(); }
}
__attribute__((noinline)) void one(unsigned long n) { step(n); }
__attribute__((noinline)) void two(unsigned long n) { step(n + 1); }
int main(int n, char** words) { one(n); two(n + (words == 0)); }
"""


def parted(folder: Path) -> str:
    need("gcc")
    (folder / "a.c").write_text(PARTS)
    subprocess.run(["gcc", "-O2", "-g", "a.c", "-o", "program"], cwd=folder, check=True)
    path = str(folder / "program")
    if not any(b"step.part" in name for name in read_symbols(path).names):
        pytest.skip("this compiler does not part the function")
    return path


def names_in(path: str, symbol: bytes, clones_apart: bool = False) -> set[tuple[str, ...]]:
    symbols = read_symbols(path)
    at = list(symbols.names).index(symbol)
    addresses = list(range(int(symbols.addresses[at]), int(symbols.ends[at])))
    places = code_places(path, symbols, addresses, clones_apart=clones_apart)
    return {place.names for place in places}


def test_the_rest_of_a_function_is_the_function_and_not_inlined_into_itself(tmp_path):
    assert names_in(parted(tmp_path), b"step.part.0") == {("step",)}


def test_copies_and_parts_have_names_of_their_own_where_they_are_asked_for(tmp_path):
    found = names_in(parted(tmp_path), b"step.part.0", clones_apart=True)
    assert {names[-1] for names in found} == {"step [clone .part.0]"}


def test_the_names_of_one_address_are_one_function_and_the_plainest_is_shown(tmp_path):
    need("gcc")
    source = """
    int __secret_turn(int x) {
        for (int i = 0; i < x; ++i) __asm__ volatile("" : "+r"(x));
        return x;
    }
    extern __typeof(__secret_turn) turn __attribute__((alias("__secret_turn")));
    extern __typeof(__secret_turn) _turn __attribute__((weak, alias("__secret_turn")));
    int main(int n, char **words) { return __secret_turn(n); }
    """
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["gcc", "-O2", "-g", "a.c", "-o", "program"], cwd=tmp_path, check=True)
    path = str(tmp_path / "program")
    symbols = read_symbols(path)
    assert b"turn" in list(symbols.names)
    assert names_in(path, b"turn") == {("turn",)}
    # It was inlined into `main` too, by its own name.
    assert names_in(path, b"main") <= {("turn", "main"), ("main",)}


FREE, USER, OTHER = (Frame(name, "program") for name in ("free", "user", "other"))


def test_a_function_in_two_parts_does_not_seem_to_call_itself():
    frames = FrameTable()
    rest = frames.place(FREE, is_part=True)
    inlined = frames.place(FREE, USER)
    whole = frames.place(FREE)
    other = frames.place(OTHER)
    begins = np.array([True, False, False, True, False, False, True, False])
    chains = np.array([rest, inlined, other, rest, whole, other, other, whole])
    found = frames.without_beginnings(chains, begins)
    user = frames.place(USER)
    assert found.tolist() == [rest, user, other, rest, -1, other, other, whole]


def test_a_function_that_calls_itself_through_its_two_parts_is_shown_as_often_as_it_runs():
    frames = FrameTable()
    rest = frames.place(FREE, is_part=True)
    # The beginning, inlined into the rest, calls the rest.
    within = frames.place(FREE, FREE, is_part=True)
    begins = np.array([True, False, False])
    found = frames.without_beginnings(np.array([rest, within, frames.place(USER)]), begins)
    assert found.tolist() == [rest, rest, frames.place(USER)]


def test_symbols_without_a_size_end_with_their_section(tmp_path):
    need("gcc")
    (tmp_path / "a.s").write_text(
        '.section .first,"ax",@progbits\n.globl early\n.type early,@function\nearly: ret\n'
        '.section .second,"ax",@progbits\n.skip 64\n'
        ".text\n.globl outer\n.type outer,@function\nouter: nop\n"
        ".type inside,@function\ninside: nop\n.size inside,1\nnop\nnop\n.size outer,.-outer\n"
        ".globl _start\n_start: ret\n"
    )
    command = ["gcc", "-nostdlib", "-static", "a.s", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    symbols = read_symbols(str(tmp_path / "program"))
    at = dict(zip(symbols.names, symbols.addresses.tolist(), strict=True))
    asked = [at[b"early"], at[b"early"] + 1, at[b"outer"], at[b"inside"], at[b"inside"] + 1]
    indices = symbols.function_indices(np.array(asked, np.uint64)).tolist()
    found = [symbols.names[index] if index >= 0 else None for index in indices]
    assert found == [b"early", None, b"outer", b"inside", b"outer"]


def test_a_symbol_without_a_size_does_not_name_the_stripped_functions_behind_it(tmp_path):
    need("gcc", "strip")
    (tmp_path / "a.s").write_text(
        ".text\n.globl exported\n.type exported,@function\nexported: nop\nnop\nret\n"
        '.section .note.GNU-stack,"",@progbits\n'
    )
    (tmp_path / "b.c").write_text(
        "static __attribute__((noinline)) int hidden(int n) { return n * 3; }\n"
        "int other(int n) { return hidden(n) + hidden(n + 1); }\n"
    )
    command = ["gcc", "-O1", "-fPIC", "-shared", "a.s", "b.c", "-o", "whole.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run(["strip", "-o", "program.so", "whole.so"], cwd=tmp_path, check=True)
    whole, stripped = (read_symbols(str(tmp_path / name)) for name in ("whole.so", "program.so"))
    at = dict(zip(whole.names, whole.addresses.tolist(), strict=True))
    asked = np.array([at[b"exported"] + 2, at[b"hidden"], at[b"other"]], np.uint64)
    found = stripped.function_indices(asked).tolist()
    named = [stripped.names[index] if index >= 0 else b"" for index in found]
    assert named == [b"exported", b"", b"other"]
