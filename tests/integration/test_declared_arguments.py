"""Calls by pointers that are narrowed by what functions declare, as debugging information says."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.app.profile.static_paths import ProgramCode
from steelyard.profile.executable import FunctionNames
from steelyard.profile.paths import declared_arguments
from steelyard.profile.paths.code_graph import read_call_graph
from steelyard.profile.paths.learning_run import learning_run
from tests.needs import need, needs, needs_x86_64
from tests.pointer_programs import source

pytestmark = [needs_x86_64, needs("gcc")]
# No function reads an argument, so that its code tells nothing of them.
PROGRAM = """
#include <stdbool.h>
#include <stdlib.h>
#define WORDS(name, ...) __attribute__((noinline)) long name(__VA_ARGS__) { return sink++; }
volatile long sink;
struct Large { long a, b, c; };
enum Colour { RED, GREEN };
typedef const enum Colour Shade;
WORDS(none, void)
WORDS(one, long a)
WORDS(same, const char* a, Shade b)
WORDS(narrow, bool a, signed char b)
WORDS(three, long a, Shade b, bool c)
WORDS(named_twice, long a, long b, long c)
WORDS(number, double a, double b, double c)
WORDS(mixed, long a, float b, long double c, int d)
WORDS(structure, struct Large a, struct Large b, struct Large c)
WORDS(wide, __int128 a, __int128 b, __int128 c)
WORDS(variable, long a, long b, long c, ...)
__attribute__((noinline)) long old(a, b, c) long a, b, c; { return sink++; }
extern long strange(long, long, long), assembled(void);
typedef long (*Two)(long, long);
static void* const known[16] = {none, one, same, narrow, three, named_twice, number, mixed, structure, wide, variable, old, strange, assembled, one, one};
void* volatile kept[16];
__attribute__((noinline)) long by_two(long at) { int more = rand(); return ((Two)kept[at])(1, 2) + more; }
__attribute__((noinline)) long by_three(long at) { int more = rand(); return ((long (*)(long, long, long))kept[at])(1, 2, 3) + more; }
int main(int count, char** words) {
    for (int at = 0; at < 16; at++) kept[at] = known[(at + count) & 15];
    return by_two(0) + by_three(1) == 7;
}
__asm__(".text\\n.globl assembled\\n.type assembled, @function\\nassembled: .cfi_startproc\\nmov $1, %eax\\nadd $1, %rax\\nret\\n.cfi_endproc\\n.size assembled, .-assembled");
"""  # noqa: E501
STRANGE = "long strange(long a, long b, long c) { return 1; }\n"
TOO_MANY = {"three", "named_twice"}
ALWAYS = {"none", "one", "same", "narrow", "number", "mixed", "structure", "wide", "variable"}
ALWAYS |= {"old", "strange", "assembled"}
COMMANDS = [
    *("gcc -O0", "gcc -O2", "gcc -O2 -gdwarf-4", "gcc -Os -gz", "gcc -O3 -no-pie"),
    *("gcc -O2 -ffunction-sections -Wl,--gc-sections", "gcc -O2 -gdwarf64"),
    *("clang -O0", "clang -O2", "clang -O2 -gdwarf-4", "clang -Oz"),
]


def built(folder: Path, command: str, flags: str = "-g") -> str:
    """The program; one of its functions has no debugging information."""
    need(command.split(maxsplit=1)[0])
    for text, name, more in ((PROGRAM, "program.c", flags), (STRANGE, "strange.c", "-g0")):
        (folder / name).write_text(text)
        build = [*command.split(), *more.split(), "-w", "-c", name]
        subprocess.run(build, cwd=folder, check=True)
    link = [*command.split(), "program.o", "strange.o", "-o", "program"]
    subprocess.run(link, cwd=folder, check=True)
    return str(folder / "program")


def callees(program: str, caller: str = "by_two") -> set[str]:
    graph, names = read_call_graph(program), FunctionNames(program)
    return {
        names.at(target)
        for one in graph.transfers
        if one.kind == "pointer" and names.at(one.caller) == caller
        for target in graph.targets(one)
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_call_leads_to_no_function_that_declares_more_than_it_passes(
    tmp_path: Path, command: str
):
    program = built(tmp_path, command)
    found = callees(program)
    assert found >= ALWAYS
    # Without optimisation other words than arguments lie in the registers of these.
    assert "-O0" in command or found.isdisjoint(TOO_MANY)
    assert callees(program, "by_three") >= ALWAYS | TOO_MANY


@pytest.mark.parametrize("flags", ["-g0", "-g1", "-gsplit-dwarf", "-flto -g"])
def test_what_is_not_declared_where_it_is_read_excludes_nothing(tmp_path: Path, flags: str):
    assert callees(built(tmp_path, "gcc -O2", flags)) >= ALWAYS | TOO_MANY


def test_a_function_with_two_names_may_be_of_either_type(tmp_path: Path):
    program = built(tmp_path, "gcc -O2")
    link = ["gcc", "-Wl,--defsym=also=named_twice", "program.o", "strange.o", "-o", "program"]
    subprocess.run(link, cwd=tmp_path, check=True)
    found = callees(program)
    assert found & {"also", "named_twice"}
    assert "three" not in found


def test_a_function_that_others_are_folded_into_may_be_of_their_types(tmp_path: Path):
    need("ld.lld")
    program = built(tmp_path, "gcc -O2 -ffunction-sections")
    link = ["clang", "-fuse-ld=lld", "-Wl,--icf=all", "program.o", "strange.o", "-o", "program"]
    subprocess.run(link, cwd=tmp_path, check=True)
    graph, names = read_call_graph(program), FunctionNames(program)
    (folded,) = (
        one
        for one in graph.taken
        if names.at(one) in {*ALWAYS, *TOO_MANY} - {"strange", "assembled"}
    )
    assert folded not in graph.reads


def test_what_is_declared_is_read_from_the_file_that_it_was_moved_to(tmp_path: Path):
    program = built(tmp_path, "gcc -O2")
    for command in (
        ["objcopy", "--only-keep-debug", "program", "program.debug"],
        ["strip", "program"],
        ["objcopy", "--add-gnu-debuglink=program.debug", "program"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    reads = read_call_graph(program).reads
    assert sorted(reads.values()) == [1, 2, 2, 2, 3, 3]


def test_nothing_is_declared_without_symbols(tmp_path: Path):
    program = built(tmp_path, "gcc -O2")
    subprocess.run(["strip", "--keep-section=.debug_*", program], check=True)
    assert not read_call_graph(program).reads


def test_more_debugging_information_than_is_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = built(tmp_path, "gcc -O2")
    assert read_call_graph(program).reads
    monkeypatch.setattr(declared_arguments, "MOST_ENTRY_BYTES", 100)
    assert not read_call_graph(program).reads


@pytest.mark.parametrize("section", ["info", "abbrev", "rnglists"])
def test_damaged_debugging_information_never_ends_the_search(tmp_path: Path, section: str):
    program = built(tmp_path, "gcc -O2")
    draw, part = random.Random(section), tmp_path / "part"
    dump = ["objcopy", f"--dump-section=.debug_{section}={part}", program]
    subprocess.run(dump, check=True)
    whole, taken = part.read_bytes(), read_call_graph(program).taken
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 3, 40))):
            data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0xFF, draw.randrange(256)))
        part.write_bytes(data[: draw.choice((len(data), draw.randrange(len(data))))])
        update = ["objcopy", f"--update-section=.debug_{section}={part}", program]
        subprocess.run(update, check=True)
        assert declared_arguments.declared_arguments(program, taken).keys() <= taken


GENERATED: Sequence[str] = (
    *("gcc -O0", "gcc -O1", "gcc -O2", "gcc -O3 -no-pie -gdwarf-4", "gcc -Os", "gcc -O2 -fno-plt"),
    *("gcc -O2 -fno-omit-frame-pointer", "clang -O0", "clang -O2", "clang -Oz -gdwarf-4"),
)


@pytest.mark.parametrize("first", range(0, 70, 10))
def test_what_is_declared_excludes_no_path_that_a_generated_program_takes(
    tmp_path: Path, first: int
):
    more = 0
    for seed, command in enumerate(GENERATED, first):
        need(command.split()[0])
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "program.c").write_text(source(seed))
        for flags in ("-g0", "-g"):
            build = [*command.split(), flags, "-w", "program.c", "-o", f"program{flags}"]
            subprocess.run(build, cwd=folder, check=True)
        program = str(folder / "program-g")
        code = ProgramCode(program, None)
        truth = code.truth(learning_run([program], program).path_map)
        assert all("aligns its stack" in why for why, _ in truth.reasons), (seed, truth.reasons)
        plain = read_call_graph(str(folder / "program-g0")).reads
        more += sum(code.graph.reads.values()) - sum(plain.values())
    assert more > 0


@pytest.mark.parametrize("linker", ["lld", "gold"])
@pytest.mark.parametrize("files", [("one.c", "two.c"), ("two.c", "one.c")])
def test_functions_of_one_name_that_are_folded_may_be_of_either_type(
    tmp_path: Path, linker: str, files: Sequence[str]
):
    need(f"ld.{linker}")
    need("clang")
    body = "{ return 3; } void* FILE(void) { return (void*)same; }"
    main = "void* one(void); void* kept; int main(void) { kept = one(); kept = two(); return 0; }"
    (tmp_path / "one.c").write_text(f"static long same(void) {body}".replace("FILE", "one"))
    three = f"static long same(long a, long b, long c) {body}".replace("FILE", "two")
    (tmp_path / "two.c").write_text(f"{three} {main}")
    link = [f"-fuse-ld={linker}", "-Wl,--icf=all", *files, "-o", "program"]
    subprocess.run(["clang", "-O2", "-g", "-ffunction-sections", *link], cwd=tmp_path, check=True)
    program = str(tmp_path / "program")
    names, functions = FunctionNames(program), read_call_graph(program).functions
    same = [one for one in functions if names.at(one) == "same"]
    assert not declared_arguments.declared_arguments(program, same)
