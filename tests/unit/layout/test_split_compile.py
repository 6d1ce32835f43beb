"""A compilation in two calls: which are split, and into what."""

from __future__ import annotations

import pytest

from steelyard.layout.command_line import parse_command_line
from steelyard.layout.compiler_call import compiler_arguments
from steelyard.layout.split_compile import split_compile
from steelyard.layout.toolchain import Toolchain

TOOLS = Toolchain("clang-19", "lld", "native")


def split(*words: str) -> tuple[list[str], list[str]] | None:
    line = parse_command_line(words)
    return split_compile(line, TOOLS, compiler_arguments(line, TOOLS, "c"), "made.s")


def test_a_compilation_becomes_clangs_call_and_the_assemblers() -> None:
    calls = split("-O2", "-Iinclude", "-c", "folder/a.c", "-o", "b.o")
    assert calls is not None
    compiled, assembled = calls
    assert (compiled[0], compiled[-2:]) == ("clang-19", ["-o", "made.s"])
    assert "-S" in compiled
    assert not {"-c", "b.o"} & set(compiled)
    assert assembled == ["native/bin/as", "--64", "-I", "include", "-o", "b.o", "made.s"]


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("-c", "folder/a.b.cpp"), "a.b.o"),
        (("-c", "-x", "c", "folder/a", "-o", "x"), "x"),
        (("-o", "x", "-c", "a.c", "-o", "y"), "y"),
        (("-MD", "-MF", "a.d", "-MT", "a.o", "-c", "a.c"), "a.o"),
        (("-c", "-DNAME=1", "-D", "OTHER", "-Wall", "-Wno-unused", "a.i"), "a.o"),
    ],
)
def test_the_object_is_named_as_clang_names_it(words: tuple[str, ...], output: str) -> None:
    calls = split(*words)
    assert calls is not None
    assert calls[1][calls[1].index("-o") + 1] == output


@pytest.mark.parametrize(
    "words",
    [
        ("a.c",),
        ("-S", "a.c"),
        ("-c", "a.c", "b.c"),
        ("-c", "a.s"),
        ("-c", "a.S"),
        ("-c", "a.h"),
        ("-c", "-x", "c", "-"),
        ("-c", "-x", "c-header", "a.c"),
        ("-c", "-xassembler", "a.c"),
        ("-c", "-x", "c", "--", "a.c"),
        ("-c", "-ofile", "a.c"),
        ("-c", "a.c", "-D", "-o"),
        ("-c", "a.c", "-o"),
        ("-c", "a.c", "-MD"),
        ("-c", "a.c", "-MD", "-MF", "a.d"),
        ("-c", "a.c", "-M"),
        ("-c", "a.c", "-ObjC"),
        ("-c", "a.c", "-Wa,-an"),
        ("-c", "a.c", "-Wp,-MD,a.d"),
        ("-c", "a.c", "-save-temps"),
        ("-c", "a.c", "-g", "-gsplit-dwarf"),
        ("-c", "a.c", "--coverage"),
        ("-c", "a.c", "-fprofile-arcs"),
        ("-c", "a.c", "-fstack-usage"),
        ("-c", "a.c", "-ftime-trace"),
        ("-c", "a.c", "-fsave-optimization-record"),
        ("-c", "a.c", "-ffile-prefix-map=/a=/b"),
        ("-c", "a.c", "-###"),
        ("-c", "a.c", "-v"),
        ("-c", "a.c", "-fsyntax-only"),
        ("--layout=code,heap", "-c", "a.c"),
        ("--layout=code,heap", "-flto", "-c", "a.c"),
    ],
)
def test_what_may_mean_another_thing_in_two_calls_stays_one(words: tuple[str, ...]) -> None:
    assert split(*words) is None
