"""Programs whose functions are cloned do what they did, by the predicted paths."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import PathMap, functions_of
from steelyard.core.errors import DataError
from steelyard.profile.paths.added_code import GrowingProgram
from steelyard.profile.paths.clonable_functions import read_clonable
from steelyard.profile.paths.learning_run import learning_run
from steelyard.profile.paths.map_file import read_map
from tests.cloned_programs import cloned_at_random
from tests.integration.conftest import User
from tests.integration.test_wrapped_calls import built, printed
from tests.needs import need, needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("g++"),
]


def known(path_map: PathMap, handlers: set[int]) -> set[tuple[object, ...]]:
    """The kernel aligns the frame of a handler, so heights above one are not predicted."""
    return {
        (*node[1:4], tuple(functions_of(path_map, index)))
        for index, node in enumerate(path_map.nodes)
        if handlers.isdisjoint(functions_of(path_map, index))
    }


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
def test_a_program_with_clones_does_the_same_by_the_predicted_paths(tmp_path: Path, command: str):
    compiler, *flags = command.removesuffix(" --strip").split()
    need(compiler)
    program = built(tmp_path, compiler, *flags)
    before = learning_run([program], program).path_map
    handlers = {at for at, name in before.functions.items() if name.startswith("handle")}
    if command.endswith("--strip"):
        subprocess.run(["strip", program], check=True)
        before = learning_run([program], program).path_map
    predicted, clones = cloned_at_random(program, before, seed=len(command), grows=True)
    assert len(clones.clones) >= 5
    assert printed(f"{program}-cloned") == printed(program)
    after = learning_run([f"{program}-cloned"], f"{program}-cloned").path_map
    assert after.guessed_count == before.guessed_count
    assert known(after, handlers) == known(predicted, handlers)
    assert {at for node in after.nodes if (at := node.function) in clones.originals}
    assert after.originals == predicted.originals


def test_calls_in_clones_are_wrapped_and_those_of_clones_too(tmp_path: Path):
    program = built(tmp_path, "g++", "-O2")
    before = learning_run([program], program).path_map
    handlers = {at for at, name in before.functions.items() if name.startswith("handle")}
    predicted, clones = cloned_at_random(program, before, seed=4, grows=True, wraps=True)
    assert printed(f"{program}-cloned") == printed(program)
    after = learning_run([f"{program}-cloned"], f"{program}-cloned").path_map
    assert after.guessed_count == before.guessed_count
    assert known(after, handlers) == known(predicted, handlers)
    assert clones.clones


# Two callers come to the same function at the same height, and it throws, switches and recurses.
DIAMOND = r"""
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink;
struct Told { int x; ~Told() { std::printf("~%d\n", x); } };
FUNCTION int leaf(int x) { for (int k = 0; k < 2000; ++k) sink += k ^ x; if (x == -77) throw std::runtime_error("thrown"); return sink & 1; }
FUNCTION int shared(int x) { Told told{x}; return leaf(x) + leaf(x + 1); }
FUNCTION int left(int x) { return shared(x) + 1 + (sink & 1); }
FUNCTION int right(int x) { return shared(x + 1) + 2 + (sink & 1); }
FUNCTION int chosen(int x) { switch (x) { case 0: sink += 5; return leaf(1); case 1: return sink * 3; case 2: sink -= leaf(2); return 4; case 3: return leaf(sink & 1); case 4: return 77; case 5: sink ^= leaf(4); return 1; default: return 0; } }
int main(int count, char** words) {
    const int times = count > 1 ? std::atoi(words[1]) : 3;
    for (int k = 0; k < times; ++k) { left(k); right(k + 10); chosen(k); }
    try { left(-77); } catch (const std::exception& caught) { std::puts(caught.what()); }
    if (count > 2) std::abort();
    return 0;
}
"""  # noqa: E501


def diamond(folder: Path, *flags: str) -> str:
    (folder / "diamond.cpp").write_text(DIAMOND)
    call = ["g++", "-O2", "-fno-jump-tables", *flags, "diamond.cpp", "-o", "diamond"]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    return str(folder / "diamond")


def cloned_by_command(user: User, folder: Path, program: str, *options: str) -> str:
    path, output = str(folder / "map"), f"{program}-cloned"
    assert user.types("profile", "paths", "learn", "-o", path, "--", program).status == 0
    resize = (
        "profile",
        "paths",
        "resize",
        path,
        "--clone",
        "--most-code",
        "100",
        "--goal",
        "1",
        "--budget",
        "1",
    )
    told = user.types(*resize, "--program", program, "-o", output, *options)
    assert told.status == 0, told.err
    return output


def test_clones_are_written_by_the_command_with_their_price(user: User, tmp_path: Path):
    program = diamond(tmp_path)
    output = cloned_by_command(user, tmp_path, program, "--json", str(tmp_path / "told"))
    assert printed(output) == printed(program)
    told = json.loads((tmp_path / "told").read_text())
    learnt = user.types("profile", "paths", "learn", "-o", str(tmp_path / "new"), "--", output)
    assert learnt.status == 0, learnt.err
    predicted, seen = read_map(f"{output}.paths"), read_map(str(tmp_path / "new"))
    assert predicted.build == seen.build
    assert known(predicted, set()) == known(seen, set())
    assert seen.originals
    assert predicted.originals.items() >= seen.originals.items()
    assert {seen.functions[at] for at in seen.originals} <= {"shared(int)", "leaf(int)"}
    assert told["cloning"]["more_instructions"] == 0


def test_half_of_the_paths_of_two_callers_are_resolved_by_clones_alone(user: User, tmp_path: Path):
    program = diamond(tmp_path)
    path = str(tmp_path / "map")
    assert user.types("profile", "paths", "learn", "-o", path, "--", program).status == 0
    resize = ("profile", "paths", "resize", path, "--goal", "1", "--program", program)
    limits = ("--budget", "1", "--clone", "--most-code")
    none = user.types(*resize, *limits, "0", "--json", "-").document()
    some = user.types(*resize, *limits, "100", "--json", "-").document()
    assert none["cloning"]["clones"] == []
    assert some["after"]["paths"]["resolved"] > none["after"]["paths"]["resolved"]
    assert some["before"] == none["before"]
    cloning = some["cloning"]
    assert cloning["bytes"] == sum(clone["bytes"] for clone in cloning["clones"])
    assert 0 < cloning["growth_ratio"] <= 1
    assert all(clone["callers"] for clone in cloning["clones"])


def test_samples_of_a_program_with_clones_have_the_names_of_the_originals(
    user: User, tmp_path: Path
):
    output = cloned_by_command(user, tmp_path, diamond(tmp_path))
    record = ("profile", "record", "--paths", f"{output}.paths", "-o", str(tmp_path / "profile"))
    recorded = user.types(*record, "--", output, "6000")
    assert recorded.status == 0, recorded.err
    told = user.types("profile", "report", str(tmp_path / "profile"), "--json", "-").document()
    paths = {tuple(path["frames"]) for path in told["paths"]}
    assert {("main", f"{side}(int)", "shared(int)", "leaf(int)") for side in ("left", "right")} <= {
        tuple(frame["function"] if isinstance(frame, dict) else frame for frame in path)
        for path in paths
    }
    assert told["ambiguous"] == 0
    assert not any("clone" in str(frame) for path in paths for frame in path)
    judge = ("profile", "paths", "judge", f"{output}.paths", "--json", str(tmp_path / "judged"))
    assert user.types(*judge, "--", output, "5").status == 0
    judged = json.loads((tmp_path / "judged").read_text())
    assert judged["online"]["paths"]["wrong"] == 0
    assert judged["online"]["paths"]["ambiguous"] == 0


@needs("gdb")
def test_a_debugger_goes_through_clones_by_their_frame_tables(user: User, tmp_path: Path):
    output = cloned_by_command(user, tmp_path, diamond(tmp_path, "-g"))
    commands = ["-ex", "catch throw", "-ex", "run", "-ex", "backtrace"]
    told = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", *commands, output],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    frames = [line for line in told.splitlines() if line.startswith("#")]
    assert " main " in frames[-1]
    assert "left" in frames[-2]
    assert "shared" in frames[-3]
    assert "leaf" in frames[-4]


def test_what_cannot_be_copied_is_refused_by_name(tmp_path: Path):
    (tmp_path / "odd.c").write_text(ODD)
    call = ["gcc", "-O2", "odd.c", "-o", "odd"]
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    program = str(tmp_path / "odd")
    names = {
        name: int(address, 16)
        for address, _, name in (
            line.split()
            for line in subprocess.run(
                ["nm", "--defined-only", program], capture_output=True, text=True, check=True
            ).stdout.splitlines()
        )
    }
    found = read_clonable(program)
    why = {name: found.reasons.get(at, "") for name, at in names.items()}
    assert why["by_table"] == "it jumps by a table or a register"
    assert why["by_label"].startswith(("it jumps by", "an address inside of it is taken"))
    assert why["_start"] == "the program starts in it"
    assert why["runs_on"] == "its code runs on into what lies behind it"
    assert why["short_way"] == "a short jump leads out of it"
    assert names["plain"] in found.functions
    assert names["to_other"] in found.functions


ODD = r"""
#include <stdio.h>
#define F __attribute__((noinline, noclone))
volatile int sink;
F int plain(int x) { return sink + x; }
F int to_other(int x) { sink += 3; return plain(x + sink) + 1; }
F int by_table(int x) {
    switch (x) {
    case 0: return plain(1) * 3; case 1: return sink; case 2: return plain(2) + 5; case 3: sink = 4; return 1;
    case 4: return plain(7) + 1; case 5: sink += 2; return plain(5); case 6: return 8; case 7: return plain(sink);
    }
    return 0;
}
F int by_label(int x) {
    static void* const labels[] = {&&one, &&two, &&three};
    goto *labels[x % 3];
one: sink += 1; return plain(1);
two: sink += 2; return plain(2);
three: return 3;
}
asm(".globl runs_on; .type runs_on, @function; runs_on: .cfi_startproc; nop; nop; nop; nop; nop; nop; .cfi_endproc; .size runs_on, .-runs_on;"
    ".globl short_way; .type short_way, @function; short_way: .cfi_startproc; mov %edi, %eax; test %edi, %edi; je 9f; ret; .cfi_endproc; .size short_way, .-short_way; 9: ret");
int main(int count, char** words) { (void)words; return by_table(count) + by_label(count) + to_other(count) == 9; }
"""  # noqa: E501


def test_a_program_gets_clones_once(user: User, tmp_path: Path):
    output = cloned_by_command(user, tmp_path, diamond(tmp_path))
    with pytest.raises(DataError, match="cloned functions already"):
        GrowingProgram(Path(output).read_bytes())
    learnt = str(tmp_path / "twice")
    assert user.types("profile", "paths", "learn", "-o", learnt, "--", output).status == 0
    again = user.types("profile", "paths", "resize", learnt, "--clone", "--program", output)
    assert again.status == 2
    assert "cloned functions already" in again.err
    assert user.types("profile", "paths", "resize", learnt, "--program", output).status == 0


def test_clones_without_a_program_are_refused(user: User, tmp_path: Path):
    told = user.types("profile", "paths", "resize", str(tmp_path / "none"), "--clone")
    assert told.status == 2
    assert "--clone needs --program" in told.err


def test_a_program_with_clones_has_no_price_of_more(user: User, tmp_path: Path):
    output = cloned_by_command(user, tmp_path, diamond(tmp_path))
    judge = ("profile", "paths", "judge", f"{output}.paths", "--costs", "--", output)
    told = user.types(*judge)
    assert told.status == 0, told.err
    assert "no price of cloning: The program has cloned functions already." in told.out
    assert "resizing" in told.out


def test_clones_go_without_marks_of_calls_that_were_never_learnt(user: User, tmp_path: Path):
    program, path = diamond(tmp_path), str(tmp_path / "map")
    words = (path, "--clone", "--mark-unlearnt", "--program", program, "--output")
    told = user.types("profile", "paths", "resize", *words, str(tmp_path / "changed"))
    assert told.status == 2
    assert "--mark-unlearnt goes without --clone" in told.err
    assert not (tmp_path / "changed").exists()
