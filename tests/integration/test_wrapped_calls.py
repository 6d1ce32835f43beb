"""Programs whose calls are led through wrappers do what they did, at the predicted heights."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import functions_of
from steelyard.analysis.paths.resizing import calls_learnt, with_sizes
from steelyard.analysis.paths.wrappable_calls import Call, wrappable_calls
from steelyard.core.errors import DataError
from steelyard.profile.paths.frame_sizes import write_program
from steelyard.profile.paths.learning_run import learning_run
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers
from tests.integration.conftest import User
from tests.needs import need, needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("g++"),
]
PROGRAM = r"""
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink;
static std::jmp_buf place;
struct Told { int x; ~Told() { std::printf("~%d\n", x); } };
struct Many { long words[12]; };
FUNCTION int eight(int a, int b, int c, int d, int e, int f, int g, int h) { return a + b + c + d + e + f + 10 * g + 100 * h; }
FUNCTION int passes_on(int a, int b, int c, int d, int e, int f, int g, int h) { sink = a; return eight(a, b, c, d, e, f, g, h); }
FUNCTION long by_value(int x, Many many) { sink += x; return many.words[x]; }
FUNCTION int leaf(int x) { if (x == 3) throw std::runtime_error("three"); sink += x; return x + 1; }
FUNCTION int middle(int x) { Told told{x}; return leaf(x) + 1; }
FUNCTION int other(int x) { Told told{x + 10}; return leaf(x) + 2; }
FUNCTION int again(int n) { if (n == 0) return middle(2); return again(n - 1) + (sink & 1) + 1; }
FUNCTION void back(int x) { if (x) std::longjmp(place, x); std::puts("no"); }
FUNCTION void far(int x) { back(x); sink += 1; }
FUNCTION int compare(const void* a, const void* b) { sink += leaf(1); return *(const int*)a - *(const int*)b; }
FUNCTION void order(int* numbers, int count) { std::qsort(numbers, count, sizeof *numbers, compare); }
FUNCTION void handled(int x) { sink += leaf(x); }
void handler(int x) { handled(x); }
FUNCTION void in_thread(int x) { sink += middle(x); }
int main() {
    Many many{};
    many.words[7] = 77;
    std::printf("%d %d %ld\n", eight(1, 2, 3, 4, 5, 6, 7, 8), passes_on(1, 2, 3, 4, 5, 6, 7, 8), by_value(7, many));
    try { std::printf("%d\n", middle(1) + other(1)); other(3); } catch (const std::exception& caught) { std::puts(caught.what()); }
    std::printf("%d\n", again(500) > 500);
    if (int x = setjmp(place)) std::printf("back %d\n", x); else far(7);
    int numbers[] = {5, 3, 9, 1};
    order(numbers, 4);
    std::printf("%d %d\n", numbers[0], numbers[3]);
    std::signal(SIGUSR1, handler);
    std::raise(SIGUSR1);
    std::thread(in_thread, 4).join();
}
"""  # noqa: E501


def built(folder: Path, *command: str) -> str:
    (folder / "program.cpp").write_text(PROGRAM)
    call = [*command, "program.cpp", "-o", "program", "-pthread"]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    return str(folder / "program")


def wrapped(program: str, seed: int) -> dict[Call, int]:
    """Wrap each call that can be, by a size at random; the sizes."""
    path_map = learning_run([program], program).path_map
    calls = read_calls(program)
    draw = random.Random(seed)
    found = sorted(wrappable_calls(calls, calls_learnt(path_map))[0])
    sizes = {call: 16 * draw.choice([1, 2, 3, 40]) for call in found}
    data = with_wrappers(Path(program).read_bytes(), calls, sizes, path_map.functions)
    write_program(data, program, f"{program}-wrapped")
    return sizes


def printed(program: str) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "command",
    [
        "g++ -O2",
        "g++ -O0 -g",
        "g++ -O3 -no-pie",
        "g++ -Os -fcf-protection=full",
        "g++ -O2 -fno-omit-frame-pointer",
        "g++ -O2 -Wl,-z,now --strip",
        "clang++ -O2",
        "clang++ -O1 -fno-pie -no-pie",
    ],
)
def test_a_program_with_wrapped_calls_does_the_same_at_the_predicted_heights(
    tmp_path: Path, command: str
):
    compiler, *flags = command.removesuffix(" --strip").split()
    need(compiler)
    program = built(tmp_path, compiler, *flags)
    before = learning_run([program], program).path_map
    handlers = {at for at, name in before.functions.items() if name.startswith("handle")}
    if command.endswith("--strip"):
        subprocess.run(["strip", program], check=True)
        before = learning_run([program], program).path_map
    sizes = wrapped(program, seed=len(command))
    assert len(sizes) >= 5
    assert printed(f"{program}-wrapped") == printed(program)
    after = learning_run([f"{program}-wrapped"], f"{program}-wrapped").path_map
    assert after.guessed_count == before.guessed_count
    predicted = with_sizes(before, {}, sizes)
    # The kernel aligns the frame of a handler, so heights above one are not predicted.
    keys = [
        {
            node[1:]
            for index, node in enumerate(one.nodes)
            if handlers.isdisjoint(functions_of(one, index))
        }
        for one in (after, predicted)
    ]
    assert keys[0] == keys[1]


def test_a_program_with_wrapped_calls_is_in_one_piece(tmp_path: Path):
    """Else the dynamic loader takes longer for each frame that an exception passes."""
    program = built(tmp_path, "g++", "-O2", "-g")
    assert Path(program).stat().st_size > 3 * 4096
    wrapped(program, seed=3)
    for path in (program, f"{program}-wrapped"):
        told = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True)
        loaded = [line.split() for line in told.stdout.splitlines() if line.split()[:1] == ["LOAD"]]
        ends = [int(row[2], 16) + int(row[5], 16) for row in loaded]
        begins = [int(row[2], 16) // 4096 * 4096 for row in loaded]
        assert begins[1:] == [-(-end // 4096) * 4096 for end in ends[:-1]]


def test_what_uses_the_stack_of_its_caller_is_not_wrapped(tmp_path: Path):
    program = built(tmp_path, "g++", "-O2")
    path_map = learning_run([program], program).path_map
    refused = wrappable_calls(read_calls(program), calls_learnt(path_map))[1]
    names = path_map.functions
    why = {names[callee].split("(")[0]: reason for (_, callee), reason in refused.items()}
    assert why["eight"] == "it takes arguments from the stack"
    assert why["by_value"] == "it takes arguments from the stack"
    assert why["compare"] == "no instruction calls the function itself"
    assert "passes_on" in why
    assert "far" not in why


@needs("gdb")
def test_a_debugger_goes_through_wrappers_by_their_frame_tables(tmp_path: Path):
    program = built(tmp_path, "g++", "-O2", "-g")
    wrapped(program, seed=2)
    commands = ["-ex", "break leaf", "-ex", "run", "-ex", "backtrace"]
    told = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", *commands, f"{program}-wrapped"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    frames = [line for line in told.splitlines() if line.startswith("#")]
    assert "leaf" in frames[0]
    assert ".steelyard" in frames[1]
    assert " main " in frames[-1]
    assert "in middle (" in told


def test_wrapped_calls_are_written_by_the_command_and_cost_what_they_may(
    user: User, tmp_path: Path
):
    program, output = built(tmp_path, "g++", "-O2", "-fno-omit-frame-pointer"), tmp_path / "new"
    path = str(tmp_path / "map")
    assert user.types("profile", "paths", "learn", "-o", path, "--", program).status == 0
    resize = ("profile", "paths", "resize", path, "--goal", "1", "--program", program, "--wrap")
    none = user.types(*resize, "--most-wrapped", "0", "--json", "-").document()
    assert none["calls"] == []
    assert none["wrapped_ratio"] == 0
    told = user.types(*resize, "--most-wrapped", "0.5", "-o", str(output))
    assert told.status == 0, told.err
    assert "pass a wrapper" in told.out
    assert printed(str(output)) == printed(program)
    learnt = user.types("profile", "paths", "learn", "-o", str(tmp_path / "w"), "--", str(output))
    assert learnt.status == 0
    predicted, seen = read_map(f"{output}.paths"), read_map(str(tmp_path / "w"))
    assert predicted.build == seen.build
    assert {node[1:] for node in seen.nodes if node.parent == -1} <= {
        node[1:] for node in predicted.nodes
    }
    twice = user.types("profile", "paths", "resize", str(tmp_path / "w"), "--program", str(output))
    assert twice.status == 0


def test_what_is_no_whole_program_gets_no_code(tmp_path: Path):
    program = built(tmp_path, "g++", "-O2")
    wrapped(program, seed=1)
    data, calls = Path(program).read_bytes(), read_calls(program)
    place = calls.places[0]
    sizes = {(place.caller, place.callee): 16}
    for damaged in (b"", data[:100], data[: len(data) // 2], b"\x7fELF" + bytes(200)):
        with pytest.raises(DataError):
            with_wrappers(damaged, calls, sizes, {})
    with pytest.raises(DataError, match="wrapped calls already"):
        with_wrappers(Path(f"{program}-wrapped").read_bytes(), calls, sizes, {})
