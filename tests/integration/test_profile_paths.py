"""`steelyard profile paths`: what it learns of real programs is what they did."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from steelyard.analysis.paths.path_map import PathNumbers, functions_of
from steelyard.app.profile.crash_paths import crash_path
from steelyard.core.errors import SteelyardError
from steelyard.core.native_program import NATIVE
from steelyard.profile.paths.map_file import read_map
from tests.integration.conftest import User
from tests.needs import needs, needs_x86_64
from tests.path_programs import (
    built_logger,
    built_program,
    counted_paths,
    flags_of,
    logged_paths,
)

pytestmark = [
    needs_x86_64,
    needs("g++"),
]
KINDS = Path(__file__).parents[2] / "src" / "steelyard" / "report" / "kinds" / "paths"
PROGRAM = r"""
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink;
FUNCTION void leaf(int x) { sink += x; }
FUNCTION void by_tail(int x) { sink += 2; leaf(x); }
FUNCTION void not_by_tail(int x) { leaf(x); sink += 1; }
FUNCTION int compare(const void* a, const void* b) { leaf(1); return *(int*)a - *(int*)b; }
FUNCTION void various(int n) { volatile int room[n]; room[0] = 1; not_by_tail(room[0]); sink++; }
int main(int count, char** words) {
    int numbers[] = {3, 1, 2};
    by_tail(1);
    not_by_tail(1);
    qsort(numbers, 3, sizeof *numbers, compare);
    for (int k = 1; k <= 3; ++k) various(100 * k);
    if (count > 1 && words[1][0] == 'k') abort();
    if (count > 1) various(7);
    return count > 1 ? 3 : 0;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    return built(tmp_path, "program")


def built(folder: Path, name: str, *flags: str) -> str:
    (folder / f"{name}.c").write_text(PROGRAM)
    command = ["gcc", "-O2", *flags, f"{name}.c", "-o", name]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / name)


def named_paths(path: Path) -> dict[str, int]:
    """Calls by path, written from the outside in; heights together."""
    path_map = read_map(str(path))
    found: dict[str, int] = {}
    for index, node in enumerate(path_map.nodes):
        names = [path_map.functions[address] for address in functions_of(path_map, index)]
        words = " ".join(reversed(names))
        found[words] = found.get(words, 0) + node.call_count
    return found


def check_schema(document: object, kind: str) -> None:
    from referencing import Registry, Resource

    shared = KINDS.parents[1] / "documents" / "definitions.json"
    resource = Resource.from_contents(json.loads(shared.read_text("utf-8")))
    registry = Registry().with_resource("definitions.json", resource)
    schema = json.loads((KINDS / f"{kind}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema, registry=registry).validate(document)


@pytest.mark.parametrize("seed", range(3))
def test_every_path_is_learnt_as_often_as_it_was_taken(seed, user: User, tmp_path):
    built_logger(tmp_path)
    made = built_program(tmp_path, seed, *flags_of(seed))
    learn = ("profile", "paths", "learn", "-o", str(tmp_path / "map"), "--program", str(made))
    told = user.types(*learn, "--", "env", f"LOGGED_PATHS={tmp_path}/logged", str(made))
    assert told.status == 0, told.err
    numbers = PathNumbers()
    truth = counted_paths(logged_paths(tmp_path / "logged"), numbers)
    assert counted_paths(read_map(str(tmp_path / "map")).nodes, numbers) == truth


def test_tail_calls_callbacks_and_variable_arrays_are_in_their_paths(user: User, tmp_path, program):
    told = user.types("profile", "paths", "learn", "-o", str(tmp_path / "map"), "--", program)
    assert told.status == 0, told.err
    assert named_paths(tmp_path / "map") == {
        "main": 1,
        "main by_tail": 1,
        "main leaf": 1,
        "main not_by_tail": 1,
        "main not_by_tail leaf": 1,
        "main compare": 3,
        "main compare leaf": 3,
        "main various": 3,
        "main various not_by_tail": 3,
        "main various not_by_tail leaf": 3,
    }
    check_schema(json.loads((tmp_path / "map").read_text("utf-8")), "path-map")


def test_a_map_grows_by_runs_and_stays_valid_in_other_environments(user: User, tmp_path, program):
    learn = ("profile", "paths", "learn", "-o", str(tmp_path / "map"))
    user.types(*learn, "--", program)
    padded = ("--", "env", "PADDING=" + "x" * 60_000, program)
    before = read_map(str(tmp_path / "map"))
    told = user.types(*learn, "--json", str(tmp_path / "told"), "--program", program, *padded)
    document = json.loads((tmp_path / "told").read_text("utf-8"))
    check_schema(document, "path-learning")
    assert told.status == 0
    assert document["runs"] == 2
    assert document["new_paths"] == 0
    after = read_map(str(tmp_path / "map"))
    assert [node[:3] for node in after.nodes] == [node[:3] for node in before.nodes]
    assert after.call_count == 2 * before.call_count


def test_learning_ends_as_the_command_and_keeps_what_a_killed_one_did(
    user: User, tmp_path, program
):
    learn = ("profile", "paths", "learn", "-o", str(tmp_path / "map"), "--", program)
    assert user.types(*learn, "more").status == 3
    killed = user.types(*learn, "killed")
    assert killed.status == 128 + 6
    assert "The command ended with status 134." in killed.out
    assert named_paths(tmp_path / "map")["main various"] == 7


def test_a_program_that_a_script_starts_is_named(user: User, tmp_path, program):
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n{program}\n{program}\n")
    script.chmod(0o755)
    path = str(tmp_path / "map")
    told = user.types(
        "profile", "paths", "learn", "-o", path, "--program", program, "--", str(script)
    )
    assert told.status == 0, told.err
    assert named_paths(tmp_path / "map")["main"] == 2
    missed = user.types("profile", "paths", "learn", "--program", program, "--", "true")
    assert missed.status == 2
    assert "The recorder did not come to work" in missed.err


def test_judging_tells_offline_and_online(user: User, tmp_path, program):
    learn = ("profile", "paths", "learn", "-o")
    user.types(*learn, str(tmp_path / "map"), "--", program)
    user.types(*learn, str(tmp_path / "other"), "--", program, "more")
    told = user.types(
        *("profile", "paths", "judge", str(tmp_path / "map")),
        *("--evaluation", str(tmp_path / "other"), "--json", str(tmp_path / "told")),
    )
    assert told.status == 0, told.err
    assert "offline" in told.out
    document = json.loads((tmp_path / "told").read_text("utf-8"))
    check_schema(document, "path-check")
    assert document["offline"]["paths"]["resolved"] > 0.8
    assert document["offline"]["paths"]["wrong"] == document["offline"]["paths"]["missing"] == 0
    # An array of a size that was not seen before gives heights that were not either.
    assert document["online"]["paths"]["missing"] > 0
    shares = document["online"]["calls"]
    assert sum(shares[word] for word in ("resolved", "ambiguous", "wrong", "missing")) == (
        pytest.approx(1)
    )


def test_a_map_is_judged_by_a_command_and_a_command_by_itself(user: User, tmp_path, program):
    path = str(tmp_path / "map")
    user.types("profile", "paths", "learn", "-o", path, "--", program)
    judge = ("profile", "paths", "judge")
    by_other = user.types(*judge, path, "--json", str(tmp_path / "told"), "--", program, "more")
    assert by_other.status == 0, by_other.err
    document = json.loads((tmp_path / "told").read_text("utf-8"))
    check_schema(document, "path-check")
    assert document["online"]["paths"]["missing"] > 0
    alone = user.types(*judge, "--json", "-", "--", program).document()
    assert alone["offline"] == document["offline"]
    assert alone["online"] is None
    other = built(tmp_path, "other", "-O1")
    assert "another build" in user.types(*judge, path, "--", other).err
    for words, refusal in (
        ((path, "--"), "No command stands behind --"),
        ((path, "--evaluation", path, "--", program), "goes with no command"),
        (("suite:bzip2", "--", program), "a command of its own"),
        (("suite:bzip2@size=test",), "the input that paths are learnt of"),
        (("suite:nothing-of-it",), "nothing-of-it"),
        (("--", "no-such-command"), "no-such-command"),
    ):
        told = user.types(*judge, *words)
        assert told.status == 2
        assert refusal in told.err


def test_sizes_of_frames_are_searched_with_what_they_cost(user: User, tmp_path, program):
    user.types("profile", "paths", "learn", "-o", str(tmp_path / "map"), "--", program)
    told = user.types(
        *("profile", "paths", "resize", str(tmp_path / "map")),
        *(
            "--wrap",
            "--mark",
            "--goal",
            "0.9",
            "--budget",
            "2",
            "--seed",
            "7",
            "--json",
            str(tmp_path / "told"),
        ),
    )
    assert told.status == 0, told.err
    assert "stack: " in told.out
    document = json.loads((tmp_path / "told").read_text("utf-8"))
    check_schema(document, "path-resizing")
    assert document["after"]["paths"]["resolved"] >= document["before"]["paths"]["resolved"]
    assert document["keys"]["after"] <= document["keys"]["any_sizes"] <= document["keys"]["most"]
    assert 1 <= document["stack"]["ratio"] <= 2
    assert document["seed"] == 7
    assert document["marks"]["exact_ratio"] == 1


BUSY = r"""
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void spin(long n) { for (long k = 0; k < n; ++k) sink += k; }
FUNCTION void one(long n) { volatile char room[64]; room[n & 7] = 1; spin(n); sink += room[n & 7]; }
FUNCTION void other(long n) { volatile char room[64]; room[n & 7] = 2; spin(n); sink += room[n & 7]; }
FUNCTION void third(long n) { volatile char room[512]; room[n & 7] = 2; spin(n); sink += room[n & 7]; }
int main(int count, char** words) {
    (void)words;
    for (int k = 0; k < 4; ++k) { one(4000000); third(12000000); if (count > 1) other(4000000); }
}
"""  # noqa: E501


def test_samples_are_judged_by_the_paths_of_the_same_command(user: User, tmp_path: Path):
    (tmp_path / "busy.c").write_text(BUSY)
    subprocess.run(["gcc", "-O1", "busy.c", "-o", "busy"], cwd=tmp_path, check=True)
    program, path = str(tmp_path / "busy"), str(tmp_path / "map")
    user.types("profile", "paths", "learn", "-o", path, "--", program)
    judge = ("profile", "paths", "judge")
    told = user.types(*judge, path, "--by-sample", "--json", "-", "--", program)
    assert told.status == 0, told.err
    document = told.document()
    check_schema(document, "path-check")
    samples = document["samples"]
    assert samples["counts"]["samples"] > 20
    assert samples["resolved"] == 1
    # Another input has a path at a height that was learnt of one path alone.
    samples = user.types(
        *judge, path, "--by-sample", "--json", "-", "--", program, "more"
    ).document()["samples"]
    assert samples["wrong"] + samples["missing"] > 0.02
    assert samples["resolved"] > 0.5
    alone = user.types(*judge, "--by-sample", "--", program, "more")
    assert "offline  samples" in alone.out
    refused = user.types(*judge, path, "--by-sample")
    assert refused.status == 2
    assert "behind --" in refused.err
    piped = subprocess.run(
        [sys.executable, "-m", "steelyard.cli.main", *judge, "--by-sample", "--", program],
        input=b"",
        capture_output=True,
        check=False,
    )
    assert piped.returncode == 2
    assert b"its input is no file" in piped.stderr


def test_judging_says_what_each_way_of_telling_paths_apart_costs(user: User, tmp_path: Path):
    (tmp_path / "busy.c").write_text(BUSY)
    subprocess.run(["gcc", "-O1", "busy.c", "-o", "busy"], cwd=tmp_path, check=True)
    program, path = str(tmp_path / "busy"), str(tmp_path / "map")
    user.types("profile", "paths", "learn", "-o", path, "--", program, "more")
    judge = ("profile", "paths", "judge", path)
    told = user.types(*judge, "--costs", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    check_schema(document, "path-check")
    resizing = document["costs"][0]
    assert [one["way"] for one in document["costs"]] == ["resizing", "wrapping", "marking"]
    assert "size of functions" in document["refused"]["cloning"]
    assert resizing["paths"]["resolved"] > document["offline"]["paths"]["resolved"]
    assert resizing["instructions"] == 0
    assert resizing["stack"]["ratio"] >= 1
    # What of the finished program can be changed is less than all of the map.
    shown = user.types(*judge, "--costs", "--", program, "more")
    assert shown.status == 0, shown.err
    assert "more instructions" in shown.out
    assert user.types(*judge, "--json", "-").document()["costs"] is None


def test_the_price_of_each_way_is_what_resize_says_of_the_program(user: User, tmp_path: Path):
    (tmp_path / "busy.c").write_text(BUSY)
    subprocess.run(["gcc", "-O1", "busy.c", "-o", "busy"], cwd=tmp_path, check=True)
    program, path = str(tmp_path / "busy"), str(tmp_path / "map")
    learn = ("profile", "paths", "learn", "-o", path, "--", program, "more")
    assert user.types(*learn).status == 0
    target = str(tmp_path / "judged")
    judge = ("profile", "paths", "judge", path, "--costs", "--json", target, "--", program, "more")
    assert user.types(*judge).status == 0
    document = json.loads(Path(target).read_text())
    check_schema(document, "path-check")
    costs = {one["way"]: one for one in document["costs"]}
    assert list(costs) == ["resizing", "wrapping", "cloning", "marking"]
    assert document["refused"] == {}
    resize = ("profile", "paths", "resize", path, "--program", program, "--json", "-")
    resized = {way: user.types(*resize, f"--{way}").document() for way in ("clone", "mark", "wrap")}
    for way, option in (("cloning", "clone"), ("marking", "mark"), ("wrapping", "wrap")):
        assert costs[way]["paths"] == resized[option]["after"]["paths"]
        assert costs[way]["stack"] == resized[option]["stack"]
    cloning = resized["clone"]["cloning"]
    assert costs["cloning"]["clones"] == len(cloning["clones"])
    assert costs["cloning"]["clone_bytes"] == cloning["bytes"]
    assert costs["cloning"]["instructions"] == 0
    assert costs["marking"]["calls"] == len(resized["mark"]["marks"]["calls"])


def test_the_programs_of_the_example_over_32_setups_print_the_same(tmp_path: Path):
    example = Path(__file__).parents[2] / "examples" / "paths" / "calculator"
    shutil.copytree(example, tmp_path / "made")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    made = ("make", "-C", str(tmp_path / "made"))
    subprocess.run(made, env=environment, check=True, capture_output=True)
    run = str(tmp_path / "made" / "run.sh")
    printed = {
        way: subprocess.run(
            [run, way], env=environment, check=True, capture_output=True, text=True
        ).stdout.split()
        for way in ("plain", "keys")
    }
    assert printed["plain"][:2] == printed["keys"][:2]
    assert all(float(words[3]) > 0 for words in printed.values())
    unknown = subprocess.run([run, "other"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 2
    assert "plain or keys, not 'other'" in unknown.stderr


TWO_WAYS = r"""
#include <cstdio>
#include <stdexcept>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink;
struct Many { long words[12]; };
FUNCTION void leaf(int x) { sink += x; if (x == 9) throw std::runtime_error("nine"); }
FUNCTION long one(int x, Many many) { volatile char room[40]; room[x & 7] = 1; leaf(x); return room[x & 7] + many.words[11]; }
FUNCTION long other(int x, Many many) { volatile char room[40]; room[x & 7] = 2; leaf(x); return room[x & 7] + many.words[10]; }
int main() {
    Many many{};
    for (long& word : many.words) word = &word - many.words;
    long sum = one(1, many) + other(2, many);
    try { one(9, many); } catch (const std::exception& caught) { std::puts(caught.what()); }
    std::printf("%ld\n", sum);
}
"""  # noqa: E501


@pytest.mark.parametrize("flags", ["-O2", "-O2 -fno-omit-frame-pointer", "-O0", "-O3 -no-pie"])
def test_a_program_with_larger_frames_does_the_same_and_has_the_keys_that_were_predicted(
    user: User, tmp_path: Path, flags: str
):
    (tmp_path / "two.cpp").write_text(TWO_WAYS)
    subprocess.run(["g++", *flags.split(), "two.cpp", "-o", "two"], cwd=tmp_path, check=True)
    program, larger = str(tmp_path / "two"), str(tmp_path / "larger")
    learn = ("profile", "paths", "learn", "-o")
    assert user.types(*learn, str(tmp_path / "map"), "--", program).status == 0
    resize = ("profile", "paths", "resize", str(tmp_path / "map"), "--budget", "3")
    told = user.types(*resize, "--program", program, "-o", larger)
    assert told.status == 0, told.err
    output = [
        subprocess.run([path], capture_output=True, text=True, check=True).stdout
        for path in (program, larger)
    ]
    assert output == ["nine\n24\n"] * 2
    # The map that was written is that of the new program, which is another build.
    learnt = user.types(*learn, f"{larger}.paths", "--", larger)
    assert "0 of them new" in learnt.out
    predicted = read_map(f"{larger}.paths")
    user.types(*learn, str(tmp_path / "new"), "--", larger)
    new = read_map(str(tmp_path / "new"))
    assert {node[:3] for node in new.nodes} == {node[:3] for node in predicted.nodes}
    assert user.types(*learn, f"{larger}.paths", "--", program).status == 2
    judged = user.types("profile", "paths", "judge", str(tmp_path / "new"), "--json", "-")
    before = user.types("profile", "paths", "judge", str(tmp_path / "map"), "--json", "-")
    assert before.document()["offline"]["paths"]["resolved"] < 1
    assert judged.document()["offline"]["paths"]["resolved"] == 1


def test_what_cannot_be_resized_is_refused(user: User, tmp_path, program):
    path = str(tmp_path / "map")
    user.types("profile", "paths", "learn", "-o", path, "--", program)
    resize = ("profile", "paths", "resize", path)
    assert "--output needs --program" in user.types(*resize, "-o", "new").err
    other = built(tmp_path, "other", "-O1")
    refused = user.types(*resize, "--program", other)
    assert refused.status == 2
    assert "another build" in refused.err
    refused = user.types(*resize, "--program", program, "-o", str(tmp_path / "none" / "new"))
    assert refused.status != 0
    assert "Traceback" not in refused.err


def test_another_build_is_refused_and_a_renamed_one_is_not(user: User, tmp_path, program):
    path = str(tmp_path / "map")
    user.types("profile", "paths", "learn", "-o", path, "--", program)
    other = built(tmp_path, "other", "-O1")
    refused = user.types("profile", "paths", "learn", "-o", path, "--", other)
    assert refused.status == 2
    assert "another build" in refused.err
    stripped = str(tmp_path / "stripped")
    subprocess.run(["strip", program, "-o", stripped], check=True)
    told = user.types("profile", "paths", "learn", "-o", path, "--", stripped)
    assert told.status == 0, told.err
    assert "0 of them new" in told.out


def test_what_cannot_be_learnt_is_refused_with_its_reason(user: User, tmp_path):
    static = built(tmp_path, "static", "-static")
    path = str(tmp_path / "map")
    refused = user.types("profile", "paths", "learn", "-o", path, "--", static)
    assert refused.status == 2
    assert "linked statically" in refused.err
    bare = built(tmp_path, "bare", "-fno-asynchronous-unwind-tables", "-nostartfiles", "-e", "main")
    assert user.types("profile", "paths", "learn", "-o", path, "--", bare).status == 2
    assert not os.path.exists(path)


def test_the_recorder_gives_the_program_no_symbols():
    library = os.path.join(NATIVE, "libsteelyard-paths.so")
    told = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    assert told.stdout == ""


def test_a_damaged_map_is_told_by_the_field_that_is_wrong(user: User, tmp_path, program):
    path = tmp_path / "map"
    user.types("profile", "paths", "learn", "-o", str(path), "--", program)
    whole = json.loads(path.read_text("utf-8"))
    for change, words in (
        (lambda d: d["nodes"]["parent"].__setitem__(0, 5), "nodes[0]"),
        (lambda d: d["nodes"]["function"].__setitem__(0, 5), "nodes[0]"),
        (lambda d: d["nodes"]["height_bytes"].pop(), "nodes must be columns"),
        (lambda d: d.pop("build"), "lacks the field 'build'"),
        (lambda d: d.update(kind="profile"), "kind must be"),
    ):
        damaged = json.loads(json.dumps(whole))
        change(damaged)
        path.write_text(json.dumps(damaged))
        told = user.types("profile", "paths", "judge", str(path))
        assert told.status == 2
        assert words in told.err
    path.write_text(json.dumps(whole)[:-40])
    assert "is not JSON" in user.types("profile", "paths", "judge", str(path)).err


CRASHING = r"""
#include <stdlib.h>
#include <string.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink;
FUNCTION void leaf(int x, int how) {
    if (how == 1) *(volatile int*)8 = 1;
    if (how == 2) abort();
    if (how == 3) memset((void*)(long)sink, 1, 1000u * x);
    if (how == 4) ((void (*)(void))(long)sink)();
    sink = 0;
}
FUNCTION void small(int x, int how) { volatile char room[100]; room[0] = 1; leaf(x + room[0], how); sink = 0; }
FUNCTION void large(int x, int how) { volatile char room[300]; room[0] = 1; leaf(x + room[0], how); sink = 0; }
int main(int count, char** words) {
    int how = count > 1 ? atoi(words[1]) : 0;
    small(1, 0);
    large(1, 0);
    count > 2 ? large(5, how) : small(5, how);
    return 0;
}
"""  # noqa: E501


def crashed(folder: Path, program: str, *words: str) -> str:
    """The core file of a program that crashes."""
    for old in folder.glob("core*"):
        old.unlink()
    command = f"ulimit -c unlimited; exec {program} {' '.join(words)}"
    subprocess.run(["sh", "-c", command], cwd=folder, check=False, stderr=subprocess.DEVNULL)
    found = list(folder.glob("core*"))
    if not found:
        pytest.skip("this system writes no core file into the folder of the program")
    return str(found[0])


@pytest.fixture
def crashing(tmp_path: Path, user: User) -> str:
    (tmp_path / "crashing.c").write_text(CRASHING)
    subprocess.run(["gcc", "-O2", "crashing.c", "-o", "crashing"], cwd=tmp_path, check=True)
    program = str(tmp_path / "crashing")
    told = user.types("profile", "paths", "learn", "-o", str(tmp_path / "map"), "--", program)
    assert told.status == 0, told.err
    return program


@pytest.mark.parametrize("how", ["1", "2", "3", "4"])
def test_a_crash_has_the_path_that_led_to_it(user: User, tmp_path, crashing, how):
    for words, path in (((how,), "main > small > leaf"), ((how, "x"), "main > large > leaf")):
        core = crashed(tmp_path, crashing, *words)
        told = user.types("profile", "paths", "crash", str(tmp_path / "map"), "--core", core)
        assert told.status == 0, told.err
        assert told.out.splitlines()[1:] == [f"  100.00 %  {path}"]
        told = user.types(
            "profile", "paths", "crash", str(tmp_path / "map"), "--core", core, "--json", "-"
        )
        document = told.document()
        check_schema(document, "path-crash")
        assert document["outcome"] == "resolved"
        assert document["candidates"] == [{"frames": path.split(" > "), "ratio": 1}]


@pytest.mark.parametrize("how", ["1", "2", "3", "4"])
def test_a_crash_of_a_program_that_was_never_learnt_has_the_path_that_its_code_allows(
    user: User, tmp_path, crashing, how
):
    for words, path in (((how,), "main > small > leaf"), ((how, "x"), "main > large > leaf")):
        asks = ("profile", "paths", "crash", "--static", "--core")
        told = user.types(*asks, crashed(tmp_path, crashing, *words))
        assert told.status == 0, told.err
        assert told.out.splitlines()[1:] == ["1 path by the code", f"  {path}"]
        document = user.types(*asks, str(next(tmp_path.glob("core*"))), "--json", "-").document()
        check_schema(document, "path-crash")
        (found,) = document["allowed"]["paths"]
        assert found["frames"] == path.split(" > ")
    core = str(next(tmp_path.glob("core*")))
    told = user.types(
        "profile", "paths", "crash", str(tmp_path / "map"), "--static", "--core", core
    )
    assert "resolved" in told.out
    assert "by the code" not in told.out


def test_functions_without_names_have_their_addresses_in_paths_by_code(
    user: User, tmp_path, crashing
):
    subprocess.run(["strip", crashing], check=True)
    core = crashed(tmp_path, crashing, "1", "x")
    told = user.types("profile", "paths", "crash", "--static", "--core", core)
    assert told.status == 0, told.err
    frames = told.out.splitlines()[2].split(" > ")
    assert len(set(frames)) == len(frames) == 3
    assert all("[crashing]+0x" in frame for frame in frames)


def test_a_crash_of_another_build_is_refused(user: User, tmp_path, crashing):
    core = crashed(tmp_path, crashing, "1")
    command = ["gcc", "-O1", "crashing.c", "-o", "crashing"]
    subprocess.run(command, cwd=tmp_path, check=True)
    learn = ("profile", "paths", "learn", "-o", str(tmp_path / "new"), "--", crashing)
    assert user.types(*learn).status == 0
    for path_map, refusal in (("map", "another build"), ("new", "another build than the one that")):
        told = user.types("profile", "paths", "crash", str(tmp_path / path_map), "--core", core)
        assert told.status != 0
        assert refusal in told.err


def test_a_core_file_cut_short_is_one_clear_error(user: User, tmp_path, crashing):
    whole = Path(crashed(tmp_path, crashing, "1")).read_bytes()
    for size in (10, 1000, 9000, len(whole) // 2):
        (tmp_path / "cut").write_bytes(whole[:size])
        cut = str(tmp_path / "cut")
        told = user.types("profile", "paths", "crash", str(tmp_path / "map"), "--core", cut)
        assert told.status != 0
        assert told.err.startswith("steelyard: error: ")
        assert "Traceback" not in told.err


def test_a_core_file_with_a_damaged_head_is_an_answer_or_one_clear_error(tmp_path, crashing):
    core, path_map = Path(crashed(tmp_path, crashing, "1")), str(tmp_path / "map")
    whole, head_bytes = core.read_bytes(), 64 + 56 * 12
    wrong = (0, 1, 4096, 2**31, 2**40, 2**56, 2**63, 2**64 - 1)
    refused = 0
    for at in range(16, head_bytes, 8):
        for word in wrong:
            core.write_bytes(whole[:at] + word.to_bytes(8, "little") + whole[at + 8 :])
            try:
                crash_path(path_map, str(core), crashing)
            except SteelyardError:
                refused += 1
    assert refused > len(wrong)


def test_a_program_whose_functions_have_no_tables_is_refused_and_leaves_no_map(user, tmp_path):
    (tmp_path / "bare.c").write_text(PROGRAM)
    command = ["gcc", "-O2", "-fno-asynchronous-unwind-tables", "bare.c", "-o", "bare"]
    subprocess.run(command, cwd=tmp_path, check=True)
    bare, path_map = str(tmp_path / "bare"), tmp_path / "bare.map"
    told = user.types("profile", "paths", "learn", "-o", str(path_map), "--", bare)
    assert told.status == 2
    assert "No call of a function" in told.err
    assert ".eh_frame" in told.err
    assert not path_map.exists()


def test_functions_that_align_the_stack_and_call_others_are_named(user: User, tmp_path):
    (tmp_path / "aligned.c").write_text(PROGRAM)
    for name, flags in (("aligned", ["-mpreferred-stack-boundary=6"]), ("plain", [])):
        command = ["gcc", "-O2", *flags, "aligned.c", "-o", name]
        subprocess.run(command, cwd=tmp_path, check=True)

    words = ("profile", "paths", "learn", "-o")
    for name, aligning in (("aligned", [("main", 64, True)]), ("plain", [])):
        program, path_map = str(tmp_path / name), str(tmp_path / f"{name}.map")
        told = user.types(*words, path_map, "--json", "-", "--", program)
        rows = told.document()["aligning"]
        assert [tuple(row.values()) for row in rows] == aligning


CALLS_WITHIN_ITS_FIRST_BYTES = r"""
int sink;
__attribute__((noinline, noclone)) int leaf(void) { sink++; return 0; }
int through(int (*)(void));
__asm__(".p2align 4\n.globl through\n.type through, @function\nthrough: .cfi_startproc\n"
        "push %rax\n.cfi_def_cfa_offset 16\ncall *%rdi\npop %rcx\n.cfi_def_cfa_offset 8\nret\n"
        ".cfi_endproc\n.size through, .-through\n.p2align 4\n");
int main(void) { int wrong = 0; for (int k = 0; k < 3; k++) wrong += through(leaf); return wrong; }
"""


def test_a_function_that_calls_within_its_first_bytes_runs_as_before(user: User, tmp_path):
    (tmp_path / "short.c").write_text(CALLS_WITHIN_ITS_FIRST_BYTES)
    subprocess.run(["gcc", "-O2", "short.c", "-o", "short"], cwd=tmp_path, check=True)
    path_map = str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", str(tmp_path / "short"))
    assert told.status == 0, told.err
    learnt = read_map(path_map)
    paths = {
        tuple(learnt.functions[one] for one in reversed(tuple(functions_of(learnt, end))))
        for end in range(len(learnt.nodes))
    }
    assert ("main", "through", "leaf") in paths
    assert "through" in learnt.unwatched


WITH_COLD_PARTS = r"""
#include <stdio.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink, strange;
__attribute__((cold, noinline)) int mended(int x) { sink += x; return sink & 1; }
FUNCTION int leaf(int x) { sink ^= x; return sink; }
FUNCTION int compare(const void* a, const void* b) {
    int one = *(int*)a, other = *(int*)b;
    if (__builtin_expect(one == strange, 0)) one += mended(other);
    return leaf(one) - leaf(other);
}
int main(int count, char** words) {
    int numbers[] = {3, 1, 2};
    if (__builtin_expect(count > 3, 0)) sink += mended(count) + words[1][0];
    qsort(numbers, 3, sizeof *numbers, compare);
    return leaf(1) > 1000;
}
"""


def test_a_function_whose_cold_part_jumps_back_is_no_part_of_it(user: User, tmp_path: Path):
    (tmp_path / "cold.c").write_text(WITH_COLD_PARTS)
    subprocess.run(["gcc", "-O2", "cold.c", "-o", "cold"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["nm", str(tmp_path / "cold")], capture_output=True, text=True, check=True
    ).stdout
    assert "compare.cold" in listed
    assert "main.cold" in listed
    told = user.types(
        "profile", "paths", "learn", "-o", str(tmp_path / "map"), "--", str(tmp_path / "cold")
    )
    assert told.status == 0, told.err
    found = named_paths(tmp_path / "map")
    assert found["main"] == 1
    assert found["main leaf"] == 1
    assert found["main compare leaf"] == 2 * found["main compare"] > 0
