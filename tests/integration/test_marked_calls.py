"""Programs with marked calls do what they did, and their threads carry what their paths have."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.paths.markable_calls import markable_calls
from steelyard.analysis.paths.path_map import PathMap, functions_of
from steelyard.analysis.paths.path_marks import mark_value, node_marks
from steelyard.analysis.paths.resizing import calls_learnt, with_marks
from steelyard.core.errors import DataError, UsageError
from steelyard.core.native_program import native_program
from steelyard.profile.paths.frame_sizes import write_program
from steelyard.profile.paths.learning_run import learning_run
from steelyard.profile.paths.map_file import read_map, write_map
from steelyard.profile.paths.mark_samples import sampling_marks
from steelyard.profile.paths.marked_program import check_mark_carrier, marks_of
from steelyard.profile.paths.matching_map import matching_map
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers
from steelyard.profile.recording_request import Recording
from tests.integration.conftest import User
from tests.needs import need, needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("g++"),
]
# `leaf` prints where its frame is, what its thread carries, and the functions that have led to it.
PROGRAM = r"""
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#define FUNCTION extern "C" __attribute__((noinline, noclone))
volatile int sink;
static thread_local std::jmp_buf place;
static thread_local const char* names[64];
static thread_local int depth;
struct In { In(const char* name) { names[depth++] = name; } ~In() { --depth; } };
FUNCTION void leaf(int x) {
    In in("leaf");
    unsigned long value;
    __asm__ volatile("mov %%fs:0x80, %0" : "=r"(value));
    std::printf("%lx %lx ", (unsigned long)__builtin_dwarf_cfa(), value);
    for (int at = 0; at < depth; ++at) std::printf(at ? ">%s" : "%s", names[at]);
    std::printf("\n");
    sink += x;
}
FUNCTION void raise_it(int x) { In in("raise_it"); leaf(x); if (x) throw std::runtime_error("x"); sink += 1; }
FUNCTION void one(int x) { In in("one"); raise_it(x); sink += 2; }
FUNCTION void two(int x) { In in("two"); raise_it(x); sink += 3; }
FUNCTION void again(int n, int x) { In in("again"); if (n % 2) one(0); else two(0); if (n) again(n - 1, x); else if (x) one(x); sink += 1; }
FUNCTION void catcher(int x) {
    In in("catcher");
    try { again(3, x); } catch (const std::runtime_error&) { leaf(x); }
    leaf(x); two(0);
}
FUNCTION void cleaned(int x) { In in("cleaned"); struct Late { __attribute__((always_inline)) ~Late() { leaf(9); two(0); } } late; one(x); sink += 1; }
FUNCTION void outer(int x) { In in("outer"); try { cleaned(x); } catch (...) { leaf(x); } sink += 1; }
FUNCTION void jump(int x) { In in("jump"); leaf(x); std::longjmp(place, x); }
FUNCTION void far(int x) { In in("far"); jump(x); sink += 1; }
FUNCTION void jumped(int x) {
    In in("jumped");
    volatile int before = depth;
    if (setjmp(place) == 0) far(x); else depth = before;
    leaf(x); one(0);
}
FUNCTION int compare(const void* a, const void* b) { In in("compare"); one(0); return *(const int*)a - *(const int*)b; }
FUNCTION void sorted(int x) { In in("sorted"); int numbers[] = {2, x}; std::qsort(numbers, 2, 4, compare); sink += numbers[0]; }
FUNCTION void last(int x) { In in("last"); two(0); leaf(x); sink += 1; }
FUNCTION void all(int x) { In in("all"); catcher(x); outer(x); jumped(x); sorted(x); last(x); sink += 1; }
FUNCTION void in_thread(int x) { In in("in_thread"); all(x); last(x); sink += 1; }
int main() {
    In in("main");
    all(1);
    std::thread(in_thread, 4).join();
    std::thread(in_thread, 5).join();
    last(2);
}
"""  # noqa: E501


def built(folder: Path, *command: str) -> str:
    (folder / "program.cpp").write_text(PROGRAM)
    call = [*command, "program.cpp", "-o", "program", "-pthread"]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    return str(folder / "program")


def marked(program: str, stack_bytes: int = 0) -> PathMap:
    """Mark each call that can be, every third with more on the stack; the predicted map."""
    path_map = learning_run([program], program).path_map
    calls = read_calls(program)
    classes, _ = markable_calls(calls, calls_learnt(path_map))
    numbers = {call: 7 + 3 * place for place, one in enumerate(classes) for call in one.calls}
    sizes = dict.fromkeys(sorted(numbers)[::3], stack_bytes) if stack_bytes else {}
    data = Path(program).read_bytes()
    changed = with_wrappers(data, calls, sizes, path_map.functions, numbers)
    write_program(changed, program, f"{program}-marked")
    return with_marks(path_map, numbers)


def sampled_output(program: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """What `leaf` printed: its frame, the value of its thread, and the names of its path."""
    with sampling_marks(Recording("", (program,), period_ns=1e9)) as recording:
        environment = {**os.environ, **recording.environment}
        stacks = native_program("libsteelyard-stacks.so", "what notes stacks")
        environment["LD_PRELOAD"] += f":{stacks}"
        environment["STEELYARD_STACK_NOTES"] = f"{program}.notes"
        printed = subprocess.run(
            [program], capture_output=True, text=True, check=True, env=environment
        ).stdout
    lines = [line.split() for line in printed.splitlines()]
    return [
        (int(frame, 16), int(value, 16), tuple(path.split(">"))) for frame, value, path in lines
    ]


COMMANDS = [
    "g++ -O2",
    "g++ -O0 -g",
    "g++ -O3 -no-pie",
    "g++ -O1 -fno-omit-frame-pointer",
    "clang++ -O0",
    "clang++ -O1",
    "clang++ -O2 -fno-pie -no-pie",
    "clang++ -O3",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_thread_carries_the_mark_of_its_path_after_exceptions_and_jumps(
    tmp_path: Path, command: str
):
    compiler, *flags = command.split()
    need(compiler)
    program = built(tmp_path, compiler, *flags)
    marked(program)
    changed = f"{program}-marked"
    run = learning_run([changed], changed).path_map
    assert run.marks == marks_of(changed)
    assert len(run.marks) >= 10
    marks = node_marks(run.nodes, run.marks)
    known: dict[tuple[str, ...], set[tuple[int, int]]] = {}
    for index, node in enumerate(run.nodes):
        names = tuple(reversed([run.functions[one] for one in functions_of(run, index)]))
        known.setdefault(names, set()).add((node.height_bytes, marks[index]))
    told = sampled_output(changed)
    assert len(told) > 50
    for frame, value, path in told:
        # Threads begin in code of the library that starts them.
        endings = [names for names in known if names[-len(path) :] == path]
        values = {
            mark_value(mark, frame + height) for names in endings for height, mark in known[names]
        }
        assert value in values, path


def test_a_program_with_marked_calls_prints_the_same_at_the_predicted_heights(tmp_path: Path):
    program = built(tmp_path, "g++", "-O2")
    predicted = marked(program)
    changed = f"{program}-marked"
    after = learning_run([changed], changed).path_map
    assert {node[1:] for node in after.nodes} == {node[1:] for node in predicted.nodes}
    printed = [
        [line.split()[2] for line in subprocess.run(
            [one], capture_output=True, text=True, check=True
        ).stdout.splitlines()]
        for one in (program, changed)
    ]  # fmt: skip
    assert printed[0] == printed[1]


def test_a_call_can_be_wrapped_and_marked(tmp_path: Path):
    program = built(tmp_path, "g++", "-O2")
    marked(program, stack_bytes=48)
    assert len(sampled_output(f"{program}-marked")) == len(sampled_output(program))


RECORDED = r"""
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#define FUNCTION extern "C" __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(int n, int x) { for (int at = 0; at < n; ++at) sink = sink * 3 + at; if (x) throw 1; sink += 1; }
FUNCTION void one(int n, int x) { leaf(n, x); sink += 1; }
FUNCTION void two(int n, int x) { leaf(n, x); sink += 2; }
FUNCTION void three(int n, int x) { leaf(n, x); sink += 3; }
FUNCTION void caught(int n) { try { three(n, 1); } catch (int) { sink += 1; } one(n, 0); two(n, 0); }
int main(int, char** words) {
    int n = std::atoi(words[1]);
    for (int at = 0; at < 40; ++at) { one(n, 0); two(n, 0); three(n, 0); caught(n); }
    std::printf("done\n");
}
"""  # noqa: E501


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "program.cpp").write_text(RECORDED)
    call = ["g++", "-O2", "program.cpp", "-o", "program"]
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_every_sample_of_a_learnt_path_is_resolved(user: User, recorded: Path):
    program, changed = str(recorded / "program"), str(recorded / "changed")
    map_path = str(recorded / "map")
    assert user.types("profile", "paths", "learn", "-o", map_path, "--", program, "10").status == 0
    found = user.types(
        "profile", "paths", "resize", map_path, "--mark", "--goal", "0",
        "--program", program, "--output", changed, "--json", "-",
    )  # fmt: skip
    marks = json.loads(found.out)["marks"]
    assert marks["exact_ratio"] == 1
    assert marks["calls"]
    profile = str(recorded / "profile")
    done = user.types(
        "profile", "record", "--paths", f"{changed}.paths", "--period", "100us", "--seed", "1",
        "-o", profile, "--", changed, "60000",
    )  # fmt: skip
    assert "done" in done.out
    told = json.loads(user.types("profile", "report", profile, "--json", "-").out)
    assert told["resolved"] > 20
    assert told["ambiguous"] == 0
    own = {"main", "leaf", "one", "two", "three", "caught"}
    assert [row for row in told["missing_in"] if row["function"] in own] == []
    paths = {tuple(row["frames"]) for row in told["paths"]}
    assert len(paths) >= 3
    assert {names[0] for names in paths} == {"main"}


def test_a_map_without_marks_is_refused_on_a_program_that_has_them(recorded: Path):
    program = str(recorded / "program")
    path_map = learning_run([program, "1"], program).path_map
    calls = read_calls(program)
    classes, _ = markable_calls(calls, calls_learnt(path_map))
    numbers = {call: 5 for one in classes for call in one.calls}
    data = with_wrappers(Path(program).read_bytes(), calls, {}, path_map.functions, numbers)
    changed = str(recorded / "changed")
    write_program(data, program, changed)
    after = learning_run([changed, "1"], changed).path_map
    write_map(after, str(recorded / "with"))
    assert matching_map(str(recorded / "with"), changed).marks == numbers
    document = json.loads((recorded / "with").read_text())
    document["marks"] = []
    del document["digest"]
    (recorded / "without").write_text(json.dumps(document))
    with pytest.raises(DataError, match="map has no marked calls"):
        matching_map(str(recorded / "without"), changed)
    document = json.loads((recorded / "with").read_text())
    document["marks"][0][2] += 1
    del document["digest"]
    (recorded / "other").write_text(json.dumps(document))
    with pytest.raises(DataError, match="map has other marked calls"):
        matching_map(str(recorded / "other"), changed)
    assert read_map(str(recorded / "with")).marks == numbers


@pytest.mark.parametrize("row", [[1, 2], [1, 2, -3], [1, "2", 3], 4])
def test_a_damaged_mark_is_refused(recorded: Path, row: object):
    program = str(recorded / "program")
    write_map(learning_run([program, "1"], program).path_map, str(recorded / "map"))
    document = json.loads((recorded / "map").read_text())
    document["marks"] = [row]
    (recorded / "map").write_text(json.dumps(document))
    with pytest.raises(DataError, match="marks"):
        read_map(str(recorded / "map"))


def test_a_program_of_another_c_library_is_refused(recorded: Path):
    data = (recorded / "program").read_bytes()
    loader = b"/lib64/ld-linux-x86-64.so.2"
    assert loader in data
    (recorded / "other").write_bytes(data.replace(loader, b"/lib/ld-musl-x86_64.so.1\0\0\0"))
    with pytest.raises(UsageError, match=r"ld-musl-x86_64\.so\.1"):
        check_mark_carrier(str(recorded / "other"), {(1, 2): 3})
    check_mark_carrier(str(recorded / "other"), {})


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"process": 1, "argv": ()}, "--pid"),
        ({"spread": "exponential"}, "--spread"),
        ({"event": "cycles"}, "--event"),
        ({"stacks": "dwarf"}, "--library-frames"),
    ],
)
def test_what_a_program_cannot_sample_of_itself_is_refused(asked: dict[str, object], field: str):
    recording = Recording(**{"output": "", "argv": ("true",), **asked})  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError) as refused, sampling_marks(recording):
        pass
    assert refused.value.field == field


def test_a_ring_has_the_layout_that_native_code_reads(tmp_path: Path):
    with sampling_marks(Recording("", ("true",), period_ns=5e5, ratio=0.5, seed=9)) as recording:
        data = Path(recording.marks).read_bytes()
    assert struct.unpack_from("<QQdQ", data) == (0x316B72616D797473, 500_000, 0.5, 9)
    assert len(data) == 80 + 65536 * 64


# Signals of its own, threads that block all, children, and files that it does not know.
STIRRED = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void work(int n) { for (int at = 0; at < n; ++at) sink = sink * 3 + at; sink++; }
FUNCTION void one(int n) { work(n); sink += 2; }
FUNCTION void two(int n) { work(n); sink += 3; }
FUNCTION void timed(int number) { one(number); }
FUNCTION void* in_thread(void* given) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, 0);
    for (int at = 0; at < 10; ++at) { one(20000); two(20000); }
    return given;
}
int main(int count, char** words) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = timed;
    sigfillset(&action.sa_mask);
    if (count > 1) { printf("%d\n", sigaction(SIGSTKFLT, &action, 0)); work(30000000); return 0; }
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, 0);
    struct itimerval often = {{0, 3000}, {0, 3000}};
    setitimer(ITIMER_PROF, &often, 0);
    pthread_t threads[50];
    for (int round = 0; round < 4; ++round) {
        for (int at = 0; at < 50; ++at) pthread_create(&threads[at], 0, in_thread, 0);
        for (int at = 0; at < 50; ++at) pthread_join(threads[at], 0);
    }
    for (int at = 0; at < 10; ++at) {
        if (fork() == 0) { one(20000); if (at % 2) execl("/bin/true", "true", (char*)0); _exit(0); }
        int status = 0;
        wait(&status);
        if (status != 0) printf("child %d\n", status);
    }
    if (system("exit 3") != 3 << 8) puts("system");
    for (int file = 3; file < 2000; ++file) close(file);
    for (int at = 0; at < 300; ++at) { one(20000); two(20000); }
    puts("done");
}
"""


def test_programs_with_signals_threads_children_and_closed_files_run_as_before(
    user: User, tmp_path: Path
):
    (tmp_path / "stirred.c").write_text(STIRRED)
    call = ["gcc", "-O2", "stirred.c", "-o", "stirred", "-pthread"]
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    program, changed = str(tmp_path / "stirred"), str(tmp_path / "changed")
    learnt = user.types("profile", "paths", "learn", "-o", "map", "--", program)
    assert learnt.status == 0
    found = user.types(
        "profile", "paths", "resize", "map", "--mark", "--goal", "0", "--program", program,
        "--output", changed,
    )  # fmt: skip
    assert found.status == 0
    recording = ("profile", "record", "--paths", f"{changed}.paths", "--period", "200us")
    done = user.types(*recording, "-o", "profile", "--", changed)
    assert (done.status, done.out) == (0, "done\n")
    told = json.loads(user.types("profile", "report", "profile", "--json", "-").out)
    firsts = {row["frames"][0] for row in told["paths"]}
    assert {"main", "in_thread"} <= firsts
    taken = user.types(*recording, "-o", "taken", "--", changed, "take")
    assert taken.out == "-1\n"
    assert taken.status == 3
    assert "SIGSTKFLT" in taken.err
