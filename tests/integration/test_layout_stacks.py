"""Stacks that are not a thread's own, and threads that nobody asked the runtime to start."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import User, validate
from tests.layout_programs import SOURCES, read_report, require_layout
from tests.layout_programs import run as run_program

MOVING = ("code", "stack", "code,stack,heap", "blocks,stack,heap")

require_layout()


def build(user: User, source: Path, *options: str) -> str:
    program = str(user.home / source.stem)
    told = user.types("cc", "-O2", "-pthread", *options, str(source), "-o", program)
    assert told.status == 0, told.err
    return program


def outputs_of(program: str, *arguments: str) -> set[str]:
    """What it writes, left alone and moving in each way."""
    return {
        run_program(program, *arguments, _INTERVAL="1ms", **{"": parts}).stdout
        for parts in ("none", *MOVING)
    }


def test_children_of_vfork_run_on_their_parents_stack_in_copies_that_stay(user: User) -> None:
    assert outputs_of(build(user, SOURCES / "vfork.c"), "40") == {"40 of 40\n"}


def test_what_a_handler_on_another_stack_interrupted_finds_its_copies(user: User) -> None:
    assert outputs_of(build(user, SOURCES / "altstack.c"), "30") == {"1\n"}


def test_who_waits_on_another_stack_waits_no_longer_than_asked(user: User) -> None:
    program = build(user, SOURCES / "waits_away.c")
    for parts in ("none", *MOVING):  # each wait takes several moves, and would begin anew with each
        assert run_program(program, _INTERVAL="100ms", **{"": parts}).stdout == "9\n"


def test_coroutines_that_the_program_switches_by_itself_find_their_copies(user: User) -> None:
    program = build(user, SOURCES / "switches.c", str(SOURCES / "switches.s"))
    assert outputs_of(program, "15") == {"14\n" * 4}


def test_coroutines_that_a_foreign_library_switches_find_their_copies(user: User) -> None:
    library = str(user.home / "libswitches.so")
    words = ("-shared", str(SOURCES / "switches.s"), "-o", library)
    subprocess.run(["clang-19", *words], check=True)
    program = build(user, SOURCES / "switches.c", library, f"-Wl,-rpath,{user.home}")
    assert outputs_of(program, "15") == {"14\n" * 4}


def test_the_report_says_that_memory_is_searched_where_stacks_are_switched(user: User) -> None:
    file = str(user.home / "report.json")
    assembly = str(SOURCES / "switches.s")
    for name, more, searched in (("switches", [assembly], True), ("vfork", [], False)):
        program = build(user, SOURCES / f"{name}.c", *more)
        run_program(program, "10", _INTERVAL="1ms", _REPORT=file, **{"": "code"})
        report = read_report(file)
        validate(report)
        assert report["memory_is_searched"] is searched
        assert report["copies_freed"] > 0


def test_arrays_of_variable_length_are_no_switch_of_stacks(user: User) -> None:
    source = user.home / "lengths.c"
    source.write_text(
        "#include <alloca.h>\n#include <stdio.h>\n#include <string.h>\n"
        "__attribute__((noinline)) long sum(int n) { long all = 0; for (int k = 1; k < n; k++) {"
        " char each[k]; memset(each, k, k); all += each[k / 2]; }"
        " char *last = alloca(n); memset(last, 1, n); return all + last[n - 1]; }\n"
        "__attribute__((noinline)) long wide(int n) { _Alignas(64) char lines[64]; long each[n];"
        " memset(lines, 1, 64); memset(each, 0, n * 8); return each[n - 1] + lines[n]"
        ' + printf("%d", (int)(((unsigned long)lines) % 64)); }\n'
        'int main(int n, char **w) { (void)w; printf("%ld %ld\\n", sum(n * 10), wide(n)); }\n'
    )
    file = str(user.home / "report.json")
    for level in ("-O0", "-O2"):
        run_program(build(user, source, level), _REPORT=file)
        assert read_report(file)["memory_is_searched"] is False


@pytest.mark.parametrize("parts", ["stack", "code,stack,heap", "blocks,stack,heap"])
def test_threads_that_the_c_library_starts_recur_as_deep_as_ever(user: User, parts: str) -> None:
    program = build(user, SOURCES / "glibc_threads.c")
    for _ in range(3):
        done = run_program(program, _INTERVAL="1ms", **{"": parts})
        assert done.stdout == "thread 1\ntimer 30000\n"


def test_names_are_looked_up_for_the_library_that_asks(user: User) -> None:
    source = str(SOURCES / "callers.c")
    near = user.home / "near"
    near.mkdir()
    shared = ("cc", "-O2", "-fPIC", "-shared", source)
    library = str(user.home / "libcallers.so")
    own_path = ("-Wl,--enable-new-dtags", f"-Wl,-rpath,{near}")
    neighbour = str(near / "libneighbour.so")
    assert user.types(*shared, "-DNEIGHBOUR", "-o", neighbour).status == 0
    assert user.types(*shared, "-DLIBRARY", *own_path, "-o", library).status == 0
    program = str(user.home / "callers")
    linked = (f"-L{user.home}", "-lcallers", f"-Wl,-rpath,{user.home}", "-Wl,--enable-new-dtags")
    assert user.types("cc", "-O2", source, *linked, "-o", program).status == 0
    assert outputs_of(program) == {"1 1 1 1\n1 42\n"}
