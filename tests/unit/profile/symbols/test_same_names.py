"""Functions of one name in several sources are several; one that several sources have is one."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.profile.frame_table import FrameTable
from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.same_names import told_apart
from tests.needs import need

HEADER = """
extern volatile unsigned long sink;
static inline __attribute__((always_inline)) void shared(int n) {
    for (int i = 0; i < n; ++i) sink += i;
}
static __attribute__((noinline)) void counted(int n) { for (; n; --n) sink += n; }
"""
UNIT = """
#include "shared.h"
static __attribute__((noinline)) void init(int n) { for (; n; --n) sink ^= n * @NUMBER@; }
static inline __attribute__((always_inline)) void fill(int n) {
    for (; n; --n) sink -= n + @NUMBER@;
}
void @NAME@(int n) { init(n); fill(n); shared(n); counted(n); }
"""
MAIN = """
volatile unsigned long sink;
void first(int n); void second(int n);
int main(int n, char** words) { first(n); second(n + (words == 0)); }
"""


def compiled(folder: Path, *flags: str, compiler: str = "gcc", suffix: str = "c") -> str:
    need(compiler)
    (folder / "net").mkdir()
    (folder / "shared.h").write_text(HEADER)
    for number, (name, path) in enumerate((("first", "one"), ("second", "net/one")), 3):
        unit = UNIT.replace("@NUMBER@", str(number)).replace("@NAME@", name)
        (folder / f"{path}.{suffix}").write_text(unit)
    (folder / f"main.{suffix}").write_text(MAIN)
    objects = [f"{unit}.o" for unit in ("main", "one", "net/one")]
    for made in objects:
        command = [compiler, "-O2", "-I.", *flags, "-c", made.replace(".o", f".{suffix}")]
        subprocess.run([*command, "-o", made], cwd=folder, check=True)
    subprocess.run([compiler, "-O2", *flags, *objects, "-o", "program"], cwd=folder, check=True)
    return str(folder / "program")


def shown(path: str) -> set[str]:
    """The names of all functions of a program, inlined ones among them, as a report has them."""
    symbols = read_symbols(path)
    spans = zip(symbols.addresses.tolist(), symbols.ends.tolist(), strict=True)
    addresses = [address for span in spans for address in range(*span)]
    frames = FrameTable()
    for place in code_places(path, symbols, addresses):
        frames.place(*(Frame(name, path) for name in place.names), sources=place.sources)
    return {frame.name for frame in frames.table()[0]}


def of(names: set[str], *wanted: str) -> set[str]:
    return {name for name in names if name.startswith(wanted)}


SEVERAL = {f"{name} [{source}]" for name in ("init", "fill") for source in ("x/one.c", "net/one.c")}


@pytest.mark.parametrize(
    "flags",
    [
        ("-g",),
        ("-g", "-gdwarf-4"),
        ("-gdwarf-2", "-gstrict-dwarf"),
        ("-g", "-gsplit-dwarf"),
        ("-g", "-gz"),
        ("-g1",),
        ("-g", "-flto"),
        ("-g", "-fdebug-types-section"),
    ],
)
def test_static_functions_of_one_name_are_told_apart_by_their_sources(tmp_path, flags):
    folder = tmp_path / "x"
    folder.mkdir()
    names = shown(compiled(folder, *flags))
    assert of(names, "init", "fill") == SEVERAL


@pytest.mark.parametrize("flags", [("-gdwarf-4",), ("-gdwarf-5",), ("-g", "-gsplit-dwarf")])
def test_clang_tells_them_apart_too(tmp_path, flags):
    folder = tmp_path / "x"
    folder.mkdir()
    names = shown(compiled(folder, *flags, compiler="clang"))
    assert of(names, "init", "fill") == SEVERAL


def test_functions_that_only_their_source_sees_in_c_plus_plus_are_told_apart(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    names = shown(compiled(folder, "-g", compiler="g++", suffix="cpp"))
    assert of(names, "init") == {"init(int) [x/one.cpp]", "init(int) [net/one.cpp]"}
    assert of(names, "shared", "counted") == {"shared(int)", "counted(int)"}


def test_a_static_function_of_a_header_is_one_in_all_sources(tmp_path):
    assert of(shown(compiled(tmp_path, "-g")), "shared", "counted") == {"shared", "counted"}


def test_without_debugging_information_symbols_tell_the_sources(tmp_path):
    need("gcc")
    (tmp_path / "shared.h").write_text(HEADER)
    for number, name in enumerate(("first", "second"), 3):
        unit = UNIT.replace("@NUMBER@", str(number)).replace("@NAME@", name)
        (tmp_path / f"{name}.c").write_text(unit)
    (tmp_path / "main.c").write_text(MAIN)
    command = ["gcc", "-O2", "main.c", "first.c", "second.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    names = shown(str(tmp_path / "program"))
    assert of(names, "init") == {"init [first.c]", "init [second.c]"}
    assert of(names, "main") == {"main"}


def test_copies_of_one_generic_function_of_rust_are_one(tmp_path):
    need("rustc")
    (tmp_path / "a.rs").write_text(
        "mod one { #[inline(never)] pub fn go(n: u64) -> u64 { super::spin(n) } }\n"
        "mod two { #[inline(never)] pub fn go(n: u64) -> u64 { super::spin(n as u32) as u64 } }\n"
        "#[inline(never)] fn spin<T: Copy + std::ops::Add<Output = T>>(n: T) -> T { n + n }\n"
        "fn main() { let n = std::env::args().count() as u64; "
        "std::process::exit((one::go(n) + two::go(n)) as i32); }\n"
    )
    for flags in (["-g"], []):
        command = ["rustc", *flags, "-Copt-level=1", "-Ccodegen-units=8", "a.rs", "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        assert not [name for name in shown(str(tmp_path / "program")) if name.endswith("]")]


OBJECT = "/bin/program"


def told(functions: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    names = told_apart([(Frame(name, OBJECT), source) for name, source in functions])
    return {function: frame.name for function, frame in zip(functions, names, strict=True)}


def test_sources_are_told_by_so_many_folders_that_all_differ():
    sources = ("/a/b/x.c", "/a/c/x.c", "/a/c/y.c")
    functions = [*(("init", source) for source in sources), ("run", "/a/z.c")]
    names = ["init [b/x.c]", "init [c/x.c]", "init [c/y.c]", "run"]
    assert list(told(functions).values()) == names


def test_a_source_of_which_symbols_tell_the_last_part_is_the_one_path_that_ends_so():
    assert set(told([("init", "/a/x.c"), ("init", "x.c")]).values()) == {"init"}
    found = told([("init", "/a/x.c"), ("init", "x.c"), ("init", "/b/y.c"), ("init", "")])
    assert list(found.values()) == ["init [x.c]", "init [x.c]", "init [y.c]", "init"]


def test_a_source_whose_path_ends_in_another_one_is_told_from_it():
    found = told([("init", "x.c"), ("init", "/a/x.c"), ("init", "/b/x.c")])
    assert list(found.values()) == ["init [x.c]", "init [a/x.c]", "init [b/x.c]"]


def test_functions_of_one_name_in_several_files_are_not_marked():
    functions = [(Frame("init", "/bin/a"), "/a.c"), (Frame("init", "/bin/b"), "/b.c")]
    assert [frame.name for frame in told_apart(functions)] == ["init", "init"]
