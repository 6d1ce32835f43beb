"""Names of nested functions, and of Ada, Rust and Go, whether inlined or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.profile.symbols.elf_symbols import read_symbols
from tests.needs import need
from tests.unit.profile.symbols.described_programs import (
    built,
    need_compiler,
    places_in,
    run,
)

NESTED = """
volatile unsigned long sink;
static void (*volatile called)(int);
__attribute__((noinline)) void outer(int n) {
    auto inline __attribute__((always_inline)) void inner(int m);
    void inner(int m) { for (int i = 0; i < m; ++i) sink += i; }
    called = inner;
    inner(n);
    called(n);
}
int main(void) { outer(1000); }
"""


def test_a_function_inside_of_another_has_one_name_whether_inlined_or_not(tmp_path):
    path = built(tmp_path, "-g", source=NESTED)
    (own,) = {name.decode() for name in read_symbols(path).names if b"inner" in name}
    assert (own, "outer") in places_in(path, "outer")
    assert set(places_in(path, own)) == {(own,)}


def test_names_of_ada_which_hold_their_scopes_are_not_put_into_scopes_again(tmp_path):
    need("gcc")
    (tmp_path / "a.c").write_text(NESTED.replace("called = inner;", "").replace("called(n);", ""))
    run("gcc", "-O2", "-g", "-dA", "-S", "a.c", folder=tmp_path)
    lines = (tmp_path / "a.s").read_text().split("\n")
    ada95 = "\t.byte\t0xd"
    told = [ada95 if line.endswith("DW_AT_language") else line for line in lines]
    assert ada95 in told
    (tmp_path / "a.s").write_text("\n".join(told))
    run("gcc", "a.s", "-o", "program", folder=tmp_path)
    assert ("inner", "outer") in places_in(str(tmp_path / "program"), "outer")


RUST = """
#[inline(always)] fn spin<T: Into<u64> + Copy>(n: T) -> u64 {
    let mut sum = 0u64;
    for i in 0..n.into() { sum = std::hint::black_box(sum ^ i); }
    sum
}
#[inline(never)] pub fn outer(n: u32) -> u64 {
    let add = |m: u64| { let mut s = m; for i in 0..m { s = std::hint::black_box(s + i); } s };
    spin(n) + spin(n as u8) + add(u64::from(n))
}
fn main() { println!("{}", outer(1000)); }
"""


def test_rust_names_are_those_of_its_own_tools(tmp_path):
    need_compiler("rustc", "--version", (1, 66))
    (tmp_path / "a.rs").write_text(RUST)
    run("rustc", "-g", "-Copt-level=2", "-o", "program", "a.rs", folder=tmp_path)
    path = str(tmp_path / "program")
    outer = next(name for name in read_symbols(path).names if b"5outer" in name)
    found = {name for names in places_in(path, outer.decode()) for name in names}
    assert "a::outer" in found
    assert any(name.startswith("a::spin") for name in found)
    assert any(name.startswith("a::outer::{") for name in found)
    assert not any(name.startswith("_") for name in found)


GO = """package main

var sink uint64

type number interface{ ~uint32 | ~uint64 }

func spin[T number](n T) { for i := T(0); i < n; i++ { sink += uint64(i) } }
func turn(n uint64)      { for i := uint64(0); i < n; i++ { sink ^= i } }

//go:noinline
func outer(n uint64) { turn(n); spin(n); spin(uint32(n)) }
func main()          { outer(1000) }
"""


def test_functions_that_go_inlined_are_found(tmp_path, monkeypatch):
    need_compiler("go", "version", (1, 20))
    monkeypatch.setenv("GOCACHE", str(Path.home() / ".cache" / "go-build"))
    (tmp_path / "a.go").write_text(GO)
    run("go", "build", "-o", "program", "a.go", folder=tmp_path)
    found = set(places_in(str(tmp_path / "program"), "main.outer"))
    assert ("main.turn", "main.outer") in found
    assert any(names[0].startswith("main.spin[") for names in found)


def test_a_stripped_go_program_has_the_names_that_its_runtime_keeps(tmp_path, monkeypatch):
    need_compiler("go", "version", (1, 20))
    monkeypatch.setenv("GOCACHE", str(Path.home() / ".cache" / "go-build"))
    (tmp_path / "a.go").write_text(GO)
    whole, stripped = str(tmp_path / "whole"), str(tmp_path / "stripped")
    run("go", "build", "-o", whole, "a.go", folder=tmp_path)
    run("go", "build", "-ldflags=-s -w", "-o", stripped, "a.go", folder=tmp_path)
    symbols = read_symbols(stripped)
    told = dict(zip(symbols.names, symbols.addresses.tolist(), strict=True))
    known = read_symbols(whole)
    for name, address in zip(known.names, known.addresses.tolist(), strict=True):
        if name.startswith(b"main."):
            assert told[name] == address
    place = np.array([told[b"main.outer"] + 1], np.uint64)
    assert symbols.names[int(symbols.function_indices(place)[0])] == b"main.outer"


WITH_C = """package main

// static unsigned long turn(unsigned long n) { return n * 3; }
import "C"

//go:noinline
func outer(n uint64) uint64 { return uint64(C.turn(C.ulong(n))) }
func main()                 { println(outer(2)) }
"""


@pytest.mark.parametrize("mode", ["exe", "pie"])
def test_a_stripped_go_program_with_c_in_it_names_no_function_by_another(
    tmp_path, monkeypatch, mode
):
    # The linker of C puts code of its own before Go's, and so its table begins elsewhere.
    need("gcc")
    need_compiler("go", "version", (1, 20))
    monkeypatch.setenv("GOCACHE", str(Path.home() / ".cache" / "go-build"))
    monkeypatch.setenv("CGO_ENABLED", "1")
    (tmp_path / "a.go").write_text(WITH_C)
    whole, stripped = str(tmp_path / "whole"), str(tmp_path / "stripped")
    run("go", "build", f"-buildmode={mode}", "-o", whole, "a.go", folder=tmp_path)
    run("strip", "-o", stripped, whole, folder=tmp_path)
    symbols, known = read_symbols(stripped), read_symbols(whole)
    told = dict(zip(symbols.names, symbols.addresses.tolist(), strict=True))
    at = dict(zip(known.names, known.addresses.tolist(), strict=True))
    assert told[b"main.outer"] == at[b"main.outer"]
    code_of_c = np.array([at[b"_start"]], np.uint64)
    assert symbols.function_indices(code_of_c).tolist() == [-1]
