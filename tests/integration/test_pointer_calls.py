"""Paths by the code of programs that call by pointers: what they pass, and what they may hold."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import functions_of
from steelyard.app.profile.static_paths import ProgramCode
from steelyard.profile.paths.learning_run import learning_run
from tests.needs import need, needs, needs_x86_64
from tests.pointer_programs import source

pytestmark = [needs_x86_64, needs("gcc")]
# Constant tables of functions and of records, a table on the stack, functions that give back
# pointers, pointers that a callee changes, arguments that are handed on, not set or not read,
# variable arguments, numbers beside pointers, and a table of jumps between.
PROGRAM = r"""
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long k = 0; k < n; ++k) sink += k; }
FUNCTION long none(void) { leaf(3); return sink + 1; }
FUNCTION long one(long a) { leaf(a); return sink + a; }
FUNCTION long two(long a, long b) { leaf(a); return sink + b; }
FUNCTION long three(long a, long b, long c) { sink += a + c; leaf(b); return sink; }
FUNCTION long six(long a, long b, long c, long d, long e, long f) { sink += a + b + c + d + e + f; leaf(3); return sink; }
FUNCTION long eight(long a, long b, long c, long d, long e, long f, long g, long h) { leaf(h & 3); return a + b + c + d + e + f + g + h; }
FUNCTION long deaf(long a, long b, long c) { (void)a; (void)b; (void)c; leaf(2); return sink; }
FUNCTION long number(double x, long a) { leaf(a); return (long)x + sink; }
FUNCTION long any(const char* text, ...) { va_list list; va_start(list, text); long found = 0; for (; *text; ++text) found += va_arg(list, long); va_end(list); leaf(2); return found; }
FUNCTION long single(long count, ...) { va_list list; va_start(list, count); long found = count > 1 ? va_arg(list, long) : 0; va_end(list); leaf(2); return found; }
typedef long (*Three)(long, long, long);
typedef long (*Two)(long, long);
static const Three table[] = {three, deaf, three};
struct Record { const char* name; Two call; long more; };
static const struct Record records[] = {{"two", two, 1}, {"none", (Two)(void*)none, 2}};
static Two changed[] = {two, two};
FUNCTION long by_table(long at) { return table[at & 1](at, 2, 3) + 1; }
FUNCTION long by_record(long at) { long found = records[at & 1].call(at, 2); return found + records[at & 1].more; }
FUNCTION long by_changed(long at) { return changed[at & 1](at, 1) + 1; }
FUNCTION long by_stack(long at) { Three own[4] = {three, deaf, deaf, three}; long found = own[at & 3](at, 1, 2); return found + own[(at + 1) & 3](1, at, 2); }
FUNCTION Three selected(long at) { Three own[2] = {three, deaf}; return own[at & 1]; }
FUNCTION Two chosen(long at) { return at & 1 ? two : (Two)(void*)one; }
FUNCTION long by_selected(long at) { Three held = selected(at); leaf(1); long found = held(at, 1, 2); leaf(2); return found + held(at, 3, 4); }
FUNCTION long by_chosen(long at) { return chosen(at)(at, 2) + 1; }
FUNCTION void set(Two* where, long at) { *where = at & 1 ? (Two)(void*)none : two; leaf(1); }
FUNCTION long by_changed_local(long at) { Two held = two; set(&held, at); return held(at, 1) + 1; }
struct Pair { long first; Two call; };
FUNCTION void set_pair(struct Pair* where, long at) { where->call = at & 1 ? (Two)(void*)one : where->call; leaf(1); }
FUNCTION long by_changed_pair(long at) { struct Pair held = {at, two}; set_pair(&held, at); return held.call(at, held.first) + 1; }
FUNCTION long handed_on(long a, long b, long c, Three call) { return call(a, b, c); }
FUNCTION long by_handed_on(long at) { return handed_on(at, 1, 2, at & 1 ? three : deaf) + 1; }
FUNCTION long by_any(long at) { long (*call)(const char*, ...) = at & 1 ? any : any; return call("ab", at, 2L) + 1; }
FUNCTION long by_single(long at, long (*call)(long, ...)) { return (at & 1 ? call(1) : call(2, at)) + 1; }
FUNCTION long by_number(long at, long (*call)(double, long)) { return call(1.5, at) + 1; }
FUNCTION long by_six(long at, long (*call)(long, long, long, long, long, long)) { return call(at, 1, 2, 3, 4, 5) + 1; }
FUNCTION long by_eight(long at, long (*call)(long, long, long, long, long, long, long, long)) { return call(at, 1, 2, 3, 4, 5, 6, 7) + 1; }
FUNCTION long by_cases(long at, Two call) {
    long found = 0;
    switch (at) {
        case 0: call = (Two)(void*)one; break;
        case 1: found = 3; leaf(1); break;
        case 2: call = two; /* and on */
        case 3: found += 5; leaf(2); break;
        case 4: call = (Two)(void*)none; break;
        case 5: found = 9; break;
        default: leaf(3);
    }
    return call(at, found) + found;
}
FUNCTION long by_loop(long at) { Two held = two; long found = 0; for (long k = 0; k < 3; ++k) { found += held(at, k); if (k == at) held = (Two)(void*)none; } return found; }
int main(int count, char** words) {
    long more = count > 1 ? atol(words[1]) : 0, found = 0;
    if (more) changed[1] = (Two)(void*)one;
    for (long at = 0; at < 8; ++at) {
        found += by_table(at) + by_record(at) + by_changed(at) + by_stack(at) + by_selected(at) + by_chosen(at);
        found += by_changed_local(at) + by_changed_pair(at) + by_handed_on(at) + by_any(at) + by_single(at, single) + by_number(at, number);
        found += by_six(at, six) + by_eight(at, eight) + by_cases(at, at & 1 ? two : (Two)(void*)one) + by_loop(at);
    }
    printf("%ld\n", found);
}
"""  # noqa: E501
COMMANDS = [
    "gcc -O0",
    "gcc -O1",
    "gcc -O2",
    "gcc -O3 -no-pie",
    "gcc -Os",
    "gcc -O2 -fcf-protection=full",
    "gcc -O2 -fno-omit-frame-pointer",
    "gcc -O2 -mavx2",
    "gcc -O2 -pg",
    "clang -O0",
    "clang -O2",
    "clang -O3 -no-pie",
    "clang -Oz",
]
# Every call is one by a pointer there, and addresses are numbers of 64 bits.
LARGE = [
    "gcc -O0 -mcmodel=large",
    "gcc -O2 -mcmodel=large",
    "gcc -O2 -mcmodel=large -fno-pie -no-pie",
    "clang -O2 -mcmodel=large -fno-pie -no-pie",
]


def built(folder: Path, command: Sequence[str]) -> str:
    need(command[0])
    (folder / "program.c").write_text(PROGRAM)
    flags = ("-w", "program.c", "-o", "program")
    subprocess.run([*command, *flags], cwd=folder, check=True)
    return str(folder / "program")


@pytest.mark.parametrize("command", [*COMMANDS, *LARGE])
def test_every_path_that_a_run_takes_is_among_those_of_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
):
    monkeypatch.chdir(tmp_path)
    program = built(tmp_path, command.split())
    learnt = learning_run([program, "1"], program).path_map
    code = ProgramCode(program, None)
    reasons = [why for why, _ in code.truth(learnt).reasons]
    assert all("aligns its stack" in why for why in reasons)
    if reasons:
        return
    for index, node in enumerate(learnt.nodes):
        if node.height_bytes <= 0:
            continue
        path = code.named(tuple(functions_of(learnt, index))[::-1])
        allowed = code.allowed(node.function, node.height_bytes, 4000)
        assert path in allowed.paths, (path, node.height_bytes)


@pytest.mark.parametrize("seed", range(2 * len([*COMMANDS, *LARGE])))
def test_every_path_of_a_generated_program_is_among_those_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    # Those that were built with -pg leave a file where they ran.
    monkeypatch.chdir(tmp_path)
    command = [*COMMANDS, *LARGE][seed % len([*COMMANDS, *LARGE])].split()
    need(command[0])
    (tmp_path / "program.c").write_text(source(seed))
    flags = ("-w", "program.c", "-o", "program")
    subprocess.run([*command, *flags], cwd=tmp_path, check=True)
    program = str(tmp_path / "program")
    learnt = learning_run([program], program).path_map
    truth = ProgramCode(program, None).truth(learnt)
    # Without functions that libraries call back, nothing else may be missing.
    assert all("aligns its stack" in why for why, _ in truth.reasons)
    assert truth.path_count > 10


def callees(code: ProgramCode, caller: str) -> set[str]:
    """What a function may call by pointers."""
    (address,) = code.addresses_of(caller)
    calls = [one for one in code.graph.transfers if one.caller == address]
    found = {one.callee for one in calls if one.kind == "held"}
    for one in calls:
        if one.kind == "pointer":
            found |= code.graph.targets(one)
    return {code.names.at(one) for one in found if one is not None}


@pytest.mark.parametrize("command", [one for one in COMMANDS if "-O0" not in one])
def test_a_call_through_a_constant_table_leads_to_its_functions(tmp_path: Path, command: str):
    code = ProgramCode(built(tmp_path, command.split()), None)
    assert callees(code, "by_table") == {"three", "deaf"}
    assert callees(code, "by_record") == {"two", "none"}


@pytest.mark.parametrize("command", ["gcc -O1", "gcc -O2", "gcc -O3 -no-pie", "gcc -Os"])
def test_what_a_function_puts_on_its_stack_or_gives_back_is_followed(tmp_path: Path, command: str):
    code = ProgramCode(built(tmp_path, command.split()), None)
    assert callees(code, "by_stack") == {"three", "deaf"}
    assert callees(code, "by_chosen") == {"two", "one"}
    assert callees(code, "by_selected") == {"three", "deaf"}


@pytest.mark.parametrize("command", ["gcc -O2", "gcc -O1", "gcc -Os", "clang -O2"])
def test_a_call_leads_to_no_function_that_reads_more_than_it_is_passed(
    tmp_path: Path, command: str
):
    code = ProgramCode(built(tmp_path, command.split()), None)
    reads = {code.names.at(one): count for one, count in code.graph.reads.items()}
    assert reads["three"] == 3
    assert reads["six"] == 6
    assert reads.get("two", 0) <= 2
    assert reads.get("none", 0) == 0
    assert reads.get("deaf", 0) == 0
    assert callees(code, "by_number").isdisjoint({"three", "six"})
    assert {"number", "two", "one", "none"} <= callees(code, "by_number")


@pytest.mark.parametrize("command", COMMANDS)
def test_variable_arguments_need_not_be_passed(tmp_path: Path, command: str):
    code = ProgramCode(built(tmp_path, command.split()), None)
    reads = {code.names.at(one): count for one, count in code.graph.reads.items()}
    assert reads.get("single", 0) <= 1
    assert reads.get("any", 0) <= 1


def test_functions_that_others_than_c_compilers_wrote_may_read_what_nobody_passed(tmp_path: Path):
    program = built(tmp_path, ["gcc", "-O2"])
    section = tmp_path / "comment"
    dump, update = f"--dump-section=.comment={section}", f"--update-section=.comment={section}"
    subprocess.run(["objcopy", dump, program], check=True)
    section.write_bytes(section.read_bytes() + b"rustc version 1.80.0\0")
    subprocess.run(["objcopy", update, program], check=True)
    graph = ProgramCode(program, None).graph
    assert not graph.reads
    assert {one.arguments for one in graph.transfers if one.kind == "pointer"} == {6}
