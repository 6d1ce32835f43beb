"""What the compiler inlined, as debugging information tells of it."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from steelyard.profile.symbols import debug_files
from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.debug_files import read_build_id
from steelyard.profile.symbols.debug_sections import debug_sections
from steelyard.profile.symbols.demangling import base_name
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.inlined_code import described_functions
from tests.needs import need

SOURCE = """
volatile unsigned long sink;
static inline void inner(int n) { for (int i = 0; i < n; ++i) sink += i; }
static inline void middle(int n) { inner(n); }
__attribute__((noinline)) void outer(int n) { middle(n); }
int main(void) { outer(1000); }
"""
CPLUSPLUS = """
volatile unsigned long sink;
namespace room {
template <class T> inline void spin(T n) { for (T i = 0; i < n; ++i) sink += i; }
struct Turner { void turn(int n) const { spin<long>(n); } };
}
namespace {
inline void hidden(const char* text, unsigned long n) { for (; n; --n) sink += *text; }
}
__attribute__((noinline)) void outer(int n) {
    room::Turner().turn(n);
    hidden("a", n);
    auto first = [&](int m) { for (; m; --m) sink ^= n; };
    auto second = [&](int m) { for (; m; --m) sink -= n; };
    first(n);
    second(n);
}
int main() { outer(1000); }
"""
# All that stands in `outer` beside the code of its own.
INLINED = {
    "void room::spin<long>(long)",
    "room::Turner::turn(int) const",
    "(anonymous namespace)::hidden(char const*, unsigned long)",
    "outer(int)::{lambda(int)#1}::operator()(int) const",
    "outer(int)::{lambda(int)#2}::operator()(int) const",
}


def built(folder: Path, *flags: str, source: str = SOURCE, name: str = "a.c") -> str:
    compiler = "g++" if name.endswith("cpp") else "gcc"
    need(compiler)
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(source)
    subprocess.run([compiler, "-O2", *flags, name, "-o", "program"], cwd=folder, check=True)
    return str(folder / "program")


def need_compiler(name: str, asking: str, least: tuple[int, int]) -> None:
    """Go on where the compiler is as new as that: Debian 12 has Go 1.19 and Rust 1.63."""
    need(name)
    told = subprocess.run((name, asking), check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < least:
        pytest.skip(f"this compiler does not do what {name} {least[0]}.{least[1]} does: {told}")


def run(*words: str, folder: Path | None = None) -> None:
    subprocess.run(words, cwd=folder, check=True)


def places_in(path: str, function: str) -> list[tuple[str, ...]]:
    """The functions at every address of one function, the inmost first."""
    symbols = read_symbols(path)
    at = [base_name(name.decode()) for name in symbols.names].index(function)
    addresses = list(range(int(symbols.addresses[at]), int(symbols.ends[at])))
    return [place.names for place in code_places(path, symbols, addresses)]


def test_functions_inlined_in_each_other_come_the_inmost_first(tmp_path):
    found = places_in(built(tmp_path, "-g"), "outer")
    assert ("inner", "middle", "outer") in found
    assert all(names[-1] == "outer" for names in found)


def test_the_first_address_of_a_function_is_what_was_inlined_there(tmp_path):
    path = built(tmp_path, "-g")
    symbols = read_symbols(path)
    address = int(symbols.addresses[list(symbols.names).index(b"outer")])
    alone = described_functions(path, [address])
    again = described_functions(path, [address, address, address + 1])
    assert alone[0] == again[0] == again[1]
    assert [function.name for function in alone[0]] == ["inner", "middle", "outer"]


LAMBDAS = """
volatile int sink;
template <class F, class T> @HOW@ void each(F f, T t) { f(t); f(t + 1); }
int main(int n, char** words) {
    if (n) { struct Local { int a; } local{n}; sink = local.a; }
    if (n > 1) { each([](int k) { sink = k; }, 1); { each([](long k) { sink = k + 1; }, 2L); } }
    struct { void go(int k) const { sink = k * 7; } } unnamed; unnamed.go(n);
    each([](int k) { sink = k + 3; }, 1);
    each([](auto k) { sink = k + 9; }, n);
    each([](auto k, int m = 0) { sink = k + 19 + m; }, n);
    each([](auto* k) { sink = k != nullptr; }, words);
}
"""
CALL = re.compile(r"main.*::(?:operator\(\)|go).*")


def calls_in(folder: Path, how: str, *flags: str) -> set[str]:
    """The functions of lambdas, as a report has them, without what they return."""
    path = built(folder, "-std=c++20", *flags, source=LAMBDAS.replace("@HOW@", how), name="a.cpp")
    symbols = read_symbols(path)
    spans = zip(symbols.addresses.tolist(), symbols.ends.tolist(), strict=True)
    places = code_places(path, symbols, [address for span in spans for address in range(*span)])
    return {
        name.removeprefix("auto ")
        for place in places
        for name in place.names
        if CALL.search(name) and not name.startswith("void each")
    }


def test_lambdas_have_the_same_names_inlined_as_where_they_have_code_of_their_own(tmp_path):
    inline = "__attribute__((always_inline)) inline"
    inlined = calls_in(tmp_path / "inlined", inline, "-g")
    with_code = calls_in(tmp_path / "apart", "__attribute__((noinline))", "-fno-inline")
    assert len(with_code) == 7
    assert inlined == with_code


@pytest.mark.parametrize("compiler", ["gcc", "clang", "clang-19"])
@pytest.mark.parametrize("standard", ["c99", "c11", "c17", "c2x"])
def test_functions_of_c_have_no_parameters_in_their_names(tmp_path, compiler, standard):
    need(compiler)
    (tmp_path / "a.c").write_text(SOURCE)
    options = ["-O2", "-g", "-gdwarf-5", f"-std={standard}", "a.c", "-o", "program"]
    run(compiler, *options, folder=tmp_path)
    found = places_in(str(tmp_path / "program"), "outer")
    assert {name for names in found for name in names} == {"inner", "middle", "outer"}


@pytest.mark.parametrize("compiler", ["clang++", "clang++-19"])
@pytest.mark.parametrize("flags", [("-gdwarf-4",), ("-gdwarf-5",), ("-g", "-gsplit-dwarf")])
def test_clang_tells_of_the_same_functions(tmp_path, compiler, flags):
    need(compiler)
    (tmp_path / "a.cpp").write_text(CPLUSPLUS)
    run(compiler, "-O2", *flags, "a.cpp", "-o", "program", folder=tmp_path)
    found = {name for names in places_in(str(tmp_path / "program"), "_Z5outeri") for name in names}
    assert INLINED - found <= {name for name in INLINED if "lambda" in name}
    assert {"outer(int)::$_0::operator()(int) const", "outer(int)"} <= found


def test_a_compiler_that_describes_little_gives_names_without_parameters(tmp_path):
    need("clang++-19")
    (tmp_path / "a.cpp").write_text(CPLUSPLUS)
    run("clang++-19", "-O2", "-g1", "a.cpp", "-o", "program", folder=tmp_path)
    found = {name for names in places_in(str(tmp_path / "program"), "_Z5outeri") for name in names}
    assert found == {"outer(int)", "hidden", "turn", "spin<long>", "operator()"}


@pytest.mark.parametrize(
    "flags",
    [
        ("-gdwarf-2", "-gno-strict-dwarf"),
        ("-gdwarf-3",),
        ("-gdwarf-4",),
        ("-gdwarf-5",),
        ("-gdwarf-4", "-gsplit-dwarf"),
        ("-gdwarf-5", "-gsplit-dwarf"),
        ("-gdwarf-5", "-gsplit-dwarf", "-ffunction-sections"),
        ("-gdwarf-4", "-fdebug-types-section"),
        ("-gdwarf-5", "-fdebug-types-section"),
        ("-g", "-gz=zlib"),
        ("-g", "-gsplit-dwarf", "-gz=zlib"),
        ("-g", "-flto"),
        ("-g", "-freorder-blocks-and-partition"),
        ("-g", "-static"),
    ],
    ids=" ".join,
)
def test_every_form_of_debugging_information_tells_of_the_same_functions(tmp_path, flags):
    try:
        path = built(tmp_path, *flags, source=CPLUSPLUS, name="a.cpp")
    except subprocess.CalledProcessError:
        pytest.skip(f"this compiler does not take {' '.join(flags)}")
    found = places_in(path, "_Z5outeri")
    assert {name for names in found for name in names[:-1]} == INLINED
    assert {names[-1] for names in found} == {"outer(int)"}


def test_sections_packed_by_zstandard_are_read(tmp_path):
    need("objcopy")
    path = built(tmp_path, "-g")
    command = ["objcopy", "--compress-debug-sections=zstd", path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this objcopy packs nothing by Zstandard")
    assert ("inner", "middle", "outer") in places_in(path, "outer")


def test_a_package_of_split_units_is_read(tmp_path):
    need("dwp")
    for version in ("4", "5"):
        folder = tmp_path / version
        flags = (f"-gdwarf-{version}", "-gsplit-dwarf")
        path = built(folder, *flags, source=CPLUSPLUS, name="a.cpp")
        done = subprocess.run(
            ["dwp", "-e", "program"], cwd=folder, capture_output=True, check=False
        )
        if done.returncode or not (folder / "program.dwp").exists():
            continue  # binutils packs DWARF 4 alone
        for unit in folder.glob("*.dwo"):
            unit.unlink()
        assert {name for names in places_in(path, "_Z5outeri") for name in names[:-1]} == INLINED


def test_split_units_that_are_gone_leave_the_symbols(tmp_path):
    path = built(tmp_path, "-g", "-gsplit-dwarf")
    for unit in tmp_path.glob("*.dwo"):
        unit.unlink()
    assert set(places_in(path, "outer")) == {("outer",)}


@pytest.mark.parametrize("way", ["beside", "folder", "build id"])
def test_the_separate_file_of_a_stripped_program_is_found(tmp_path, monkeypatch, way):
    monkeypatch.setattr(debug_files, "DEBUG_ROOT", str(tmp_path / "root"))
    id_flag = "-Wl,--build-id=" + ("sha1" if way == "build id" else "none")
    path = built(tmp_path, "-g", id_flag)
    build_id = read_build_id(path)
    kept = {
        "beside": tmp_path / "program.debug",
        "folder": tmp_path / ".debug" / "program.debug",
        "build id": tmp_path / "root" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug",
    }[way]
    kept.parent.mkdir(parents=True, exist_ok=True)
    run("objcopy", "--only-keep-debug", path, str(kept))
    run("strip", path)
    if way != "build id":
        run("objcopy", f"--add-gnu-debuglink={kept}", path)
    assert ("inner", "middle", "outer") in places_in(path, "outer")


def test_the_separate_file_of_another_build_is_passed_over(tmp_path):
    path = built(tmp_path, "-g", "-Wl,--build-id=none")
    run("objcopy", "--only-keep-debug", path, str(tmp_path / "program.debug"))
    run("strip", path)
    run("objcopy", f"--add-gnu-debuglink={tmp_path / 'program.debug'}", path)
    with open(tmp_path / "program.debug", "ab") as file:
        file.write(b"\0")
    assert b"outer" not in read_symbols(path).names


def test_parts_that_dwz_put_into_a_shared_file_are_read(tmp_path):
    need("dwz")
    paths = [
        built(tmp_path / name, "-g", "-gdwarf-4", source=CPLUSPLUS, name=f"{name}.cpp")
        for name in ("one", "two")
    ]
    run("dwz", "-m", str(tmp_path / "shared"), *paths)
    assert (tmp_path / "shared").exists()
    for path in paths:
        assert {name for names in places_in(path, "_Z5outeri") for name in names[:-1]} == INLINED


def test_parts_that_dwz_put_into_a_supplementary_file_of_dwarf_5_are_read(tmp_path):
    need("dwz")
    paths = [
        built(tmp_path / name, "-g", "-gdwarf-5", source=CPLUSPLUS, name=f"{name}.cpp")
        for name in ("one", "two")
    ]
    run("dwz", "--dwarf-5", "-m", str(tmp_path / "shared"), *paths)
    assert b".debug_sup" in Path(paths[0]).read_bytes()
    for path in paths:
        assert {name for names in places_in(path, "_Z5outeri") for name in names[:-1]} == INLINED


HIDDEN = """
volatile unsigned long sink;
static inline void hidden(const char* text, unsigned long n) { for (; n; --n) sink += *text; }
__attribute__((noinline)) void outer(int n) { hidden("a", n); }
int main() { outer(1000); }
"""


def test_functions_of_units_that_dwz_shares_are_named_in_the_language_of_who_has_them(tmp_path):
    need("dwz", "g++")
    # What is shared has to be as much as telling of it takes.
    source = "#include <cstdio>\n#include <string>\n" + HIDDEN
    (tmp_path / "same.cpp").write_text(source)
    paths = [str(tmp_path / name) for name in ("one", "two")]
    for path in paths:
        run("g++", "-O2", "-g", "same.cpp", "-o", path, folder=tmp_path)
    run("dwz", "-m", str(tmp_path / "shared"), *paths)
    for path in paths:
        inlined = {name for names in places_in(path, "_Z5outeri") for name in names[:-1]}
        assert inlined == {"hidden(char const*, unsigned long)"}


def test_a_function_of_which_no_parameters_are_described_is_not_said_to_have_none(tmp_path):
    path = built(tmp_path, "-g1", source=HIDDEN, name="a.cpp")
    assert ("hidden", "outer(int)") in places_in(path, "_Z5outeri")


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


@pytest.mark.parametrize("section", [".debug_sup", ".gnu_debugaltlink"])
@pytest.mark.parametrize("content", [b"", b"\5", b"\5\0\0", b"\5\0\0name", b"\0" * 40])
def test_the_name_of_a_supplementary_file_that_is_damaged_is_passed_over(
    tmp_path, section, content
):
    path = built(tmp_path, "-g")
    (tmp_path / "content").write_bytes(content or b"\xff")
    run("objcopy", "--add-section", f"{section}={tmp_path / 'content'}", path)
    assert ("inner", "middle", "outer") in set(places_in(path, "outer"))


def test_a_file_without_debugging_information_has_its_symbols(tmp_path):
    assert set(places_in(built(tmp_path, "-g0"), "outer")) == {("outer",)}


def test_a_file_that_is_gone_or_no_program_has_none(tmp_path):
    (tmp_path / "text").write_text("no program")
    assert described_functions(str(tmp_path / "gone"), [1]) == [()]
    assert described_functions(str(tmp_path / "text"), [1]) == [()]


def test_damaged_debugging_information_is_read_as_far_as_it_goes(tmp_path):
    path = built(tmp_path, "-g", source=CPLUSPLUS, name="a.cpp")
    whole = Path(path).read_bytes()
    drawn = random.Random(1)
    symbols = read_symbols(path)
    addresses = symbols.addresses.tolist()
    sections = debug_sections(path, str(tmp_path))
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(drawn.choice([1, 4, 40])):
            section = drawn.choice(sections)
            at = section.offset + drawn.randrange(section.size)
            data[at] = drawn.choice([0, 0xFF, drawn.randrange(256)])
        (tmp_path / "damaged").write_bytes(data)
        assert len(described_functions(str(tmp_path / "damaged"), addresses)) == len(addresses)


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
