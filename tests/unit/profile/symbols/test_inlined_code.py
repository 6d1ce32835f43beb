"""What the compiler inlined, as debugging information tells of it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.debug_sections import debug_sections
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.inlined_code import described_functions
from tests.needs import need
from tests.unit.profile.symbols.described_programs import (
    CPLUSPLUS,
    HIDDEN,
    INLINED,
    SOURCE,
    built,
    places_in,
    run,
)


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


def test_a_function_of_which_no_parameters_are_described_is_not_said_to_have_none(tmp_path):
    path = built(tmp_path, "-g1", source=HIDDEN, name="a.cpp")
    assert ("hidden", "outer(int)") in places_in(path, "_Z5outeri")


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
