"""`profile paths learn --call-sites`: paths that differ by the calls that led from one function to
the next."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_map import PathNumbers
from steelyard.profile.paths.map_file import read_map
from tests.integration.conftest import User, validate
from tests.needs import need, needs_x86_64
from tests.path_programs import (
    built_logger,
    built_program,
    counted_paths,
    flags_of,
    logged_paths,
    with_logged_sites,
    without_callbacks,
)

pytestmark = needs_x86_64
# Lines that are asked for end with a comment.
PROGRAM = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long k = 0; k < n; k++) sink += k; }
FUNCTION void twice(long n) {
    leaf(n);  // first
    leaf(n);  // second
    sink++;
}
static inline __attribute__((always_inline)) void put_in(long n) {
    leaf(n);  // inlined
}
FUNCTION void user(long n) {
    put_in(n);
    sink++;
    put_in(n);
    sink++;
}
FUNCTION void tailed(long n) {
    sink++;
    leaf(n);
}
FUNCTION long again(long depth, long n) {
    if (depth == 0) return sink;
    long sum = again(depth - 1, n);  // left
    sink += sum;
    sum += again(depth - 1, n);  // right
    return sum + sink;
}
FUNCTION int compare(const void* a, const void* b) { return *(int*)a - *(int*)b; }
FUNCTION void sorts(void) {
    int numbers[] = {3, 1, 2, 5};
    qsort(numbers, 4, sizeof *numbers, compare);  // sort
    numbers[0] = 7;
    qsort(numbers, 4, sizeof *numbers, compare);  // sort again
    sink += numbers[0];
}
FUNCTION void* in_thread(void* given) {
    twice((long)given);  // in thread
    return given;
}
FUNCTION void handler(int number) { sink += number; }
int main(int count, char** words) {
    const long n = count > 1 ? atol(words[1]) : 1;
    pthread_t thread;
    twice(n);  // main
    user(n);
    tailed(n);  // tail
    again(2, n);
    sorts();
    signal(SIGUSR1, handler);
    raise(SIGUSR1);  // raise
    pthread_create(&thread, 0, in_thread, (void*)n);
    pthread_join(thread, 0);
    return 0;
}
"""
LEARN = ("profile", "paths", "learn")


def line(comment: str) -> int:
    (found,) = [
        k for k, text in enumerate(PROGRAM.splitlines(), 1) if text.endswith(f"// {comment}")
    ]
    return found


def built(folder: Path, name: str, *flags: str) -> str:
    need("gcc")
    (folder / f"{name}.c").write_text(PROGRAM)
    command = ["gcc", "-O2", *flags, f"{name}.c", "-o", name, "-pthread"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / name)


def learnt(user: User, program: str, path: Path, *options: str) -> Path:
    told = user.types(*LEARN, "-o", str(path), *options, "--", program)
    assert told.status == 0, told.err
    return path


def paths_of(path: Path) -> set[tuple[str, ...]]:
    """The paths, with the names that a user sees."""
    path_map = read_map(str(path))
    keyed = KeyedPaths(path_map, {})
    keys = {(node.function, node.height_bytes) for node in path_map.nodes}
    return {one.functions for key in keys for one in keyed.candidates(*key)}


@pytest.fixture
def program(tmp_path: Path) -> str:
    return built(tmp_path, "p", "-g")


@pytest.mark.parametrize("seed", range(3))
def test_each_call_site_is_the_return_address_that_the_compiler_gives_a_logger(
    seed, user: User, tmp_path: Path
):
    need("g++")
    built_logger(tmp_path)
    made = built_program(tmp_path, seed, *flags_of(seed))
    path, log = tmp_path / "map", tmp_path / "logged"
    learn = (*LEARN, "--call-sites", "-o", str(path), "--program", str(made))
    told = user.types(*learn, "--", "env", f"LOGGED_PATHS={log}", str(made))
    assert told.status == 0, told.err
    found, numbers = read_map(str(path)), PathNumbers()
    truth = counted_paths(with_logged_sites(logged_paths(log), log, found.functions), numbers)
    assert counted_paths(without_callbacks(found.nodes, found.functions), numbers) == truth


def test_call_sites_are_lines_through_recursion_callbacks_tail_calls_inlining_and_threads(
    user: User, tmp_path: Path, program
):
    found = paths_of(learnt(user, program, tmp_path / "map", "--call-sites"))
    main = f"main@p.c:{line('main')}"
    assert {
        (main, "twice"),
        (main, f"twice@p.c:{line('first')}", "leaf"),
        (main, f"twice@p.c:{line('second')}", "leaf"),
        # The call that is left on the stack is that of the function which is gone.
        (f"main@p.c:{line('tail')}", "leaf"),
        (f"main@p.c:{line('raise')}", "handler"),
        (f"in_thread@p.c:{line('in thread')}", f"twice@p.c:{line('first')}", "leaf"),
    } <= found
    sorts = {path[1] for path in found if path[-1] == "compare"}
    assert sorts == {f"sorts@p.c:{line('sort')}", f"sorts@p.c:{line('sort again')}"}
    again = [tuple(one.partition("@p.c:")[2] for one in path[1:-1]) for path in found
             if path[-1] == "again" and len(path) == 4]  # fmt: skip
    sides = [str(line("left")), str(line("right"))]
    assert sorted(again) == sorted((one, other) for one in sides for other in sides)
    # Two call sites of one line are told apart by where they are.
    inlined = {path[-2] for path in found if path[-2:-1] and path[-2].startswith("user")}
    assert len(inlined) == 2
    assert all(f"@p.c:{line('inlined')}+0x" in name for name in inlined)


@pytest.mark.parametrize("flags", [("-s",), ("-s", "-no-pie"), ()])
def test_without_debugging_information_call_sites_are_distances_in_their_function(
    flags, user: User, tmp_path: Path, program
):
    plain = built(tmp_path, "plain", *flags)
    found = paths_of(learnt(user, plain, tmp_path / "map", "--call-sites"))
    assert len(found) == len(paths_of(learnt(user, program, tmp_path / "m", "--call-sites")))
    assert all("+0x" in name for path in found for name in path[:-1])
    # Where the program is loaded changes nothing.
    before = read_map(str(tmp_path / "map"))
    learnt(user, plain, tmp_path / "map", "--call-sites")
    after = read_map(str(tmp_path / "map"))
    assert after.call_sites == before.call_sites
    numbers = PathNumbers()
    assert set(numbers.of(after.nodes)) == set(numbers.of(before.nodes))


def test_paths_with_and_without_call_sites_are_never_mixed(user: User, tmp_path: Path, program):
    sites = learnt(user, program, tmp_path / "sites", "--call-sites")
    plain = learnt(user, program, tmp_path / "plain")
    kept = [sites.read_bytes(), plain.read_bytes()]
    judge = ("profile", "paths", "judge")
    for command, words in (
        ((*LEARN, "-o", str(sites), "--", program), "has call sites, and the paths beside it"),
        ((*LEARN, "--call-sites", "-o", str(plain), "--", program), "has no call sites, and"),
        ((*judge, str(sites), "--evaluation", str(plain)), "has call sites"),
        ((*judge, str(plain), "--evaluation", str(sites)), "has no call sites"),
        ((*judge, str(sites), "--costs"), "--costs works on paths without them"),
        (("profile", "paths", "resize", str(sites)), "resize works on paths without them"),
    ):
        told = user.types(*command)
        assert told.status != 0
        assert words in told.err
        assert "Traceback" not in told.err
    assert [sites.read_bytes(), plain.read_bytes()] == kept
    told = user.types(*judge, "--call-sites", str(plain))
    assert told.status == 2
    assert "A map has call sites or not." in told.err


def test_a_map_with_call_sites_is_judged_by_them(user: User, tmp_path: Path, program):
    sites = learnt(user, program, tmp_path / "sites", "--call-sites")
    told = user.types("profile", "paths", "judge", str(sites), "--json", "-", "--", program)
    assert told.status == 0, told.err
    by_map = json.loads(told.out)
    validate(by_map)
    assert by_map["call_sites"] is True
    assert by_map["online"]["counts"]["paths"] == by_map["offline"]["counts"]["paths"]
    # The kernel aligns the frame of the handler by where the stack is, which differs by run.
    assert by_map["online"]["paths"]["wrong"] == 0
    assert by_map["online"]["paths"]["missing"] < 0.1
    told = user.types("profile", "paths", "judge", "--call-sites", "--json", "-", "--", program)
    alone = json.loads(told.out)
    assert alone["call_sites"] is True
    assert alone["offline"]["counts"]["paths"] == by_map["offline"]["counts"]["paths"]
    told = user.types("profile", "paths", "judge", "--json", "-", "--", program)
    without = json.loads(told.out)
    assert without["call_sites"] is False
    more, fewer = alone["offline"], without["offline"]
    assert more["counts"]["paths"] > fewer["counts"]["paths"]
    assert more["counts"]["keys"] == fewer["counts"]["keys"]
    assert more["paths"]["resolved"] < fewer["paths"]["resolved"]


def test_a_program_whose_calls_are_wrapped_has_no_call_sites(user: User, tmp_path: Path, program):
    plain = learnt(user, program, tmp_path / "plain")
    made = str(tmp_path / "wrapped")
    resize = ("profile", "paths", "resize", str(plain), "--wrap", "--most-wrapped", "1")
    told = user.types(*resize, "--program", program, "--output", made)
    assert told.status == 0, told.err
    told = user.types(*LEARN, "--call-sites", "-o", str(tmp_path / "map"), "--", made)
    assert told.status == 2
    assert "led through wrappers" in told.err
    assert not os.path.exists(tmp_path / "map")


def test_a_map_with_damaged_call_sites_is_told_by_its_field(user: User, tmp_path: Path, program):
    path = learnt(user, program, tmp_path / "map", "--call-sites")
    whole = json.loads(path.read_text("utf-8"))
    validate(whole)
    assert user.types("profile", "paths", "judge", str(path)).status == 0
    # Without it each field is told by itself.
    del whole["digest"]
    for field, value in (
        ("call_sites", {}),
        ("call_sites", None),
        ("call_sites", {"-1": "p.c:1"}),
        ("call_sites", {"12": 3}),
        ("nodes", {**whole["nodes"], "call_site": [[]] * len(whole["nodes"]["parent"])}),
        ("nodes", {**whole["nodes"], "call_site": [1]}),
    ):
        path.write_text(json.dumps({**whole, field: value}))
        told = user.types("profile", "paths", "judge", str(path))
        assert told.status == 2
        assert "call site" in told.err or field in told.err, told.err
    del whole["call_sites"]
    path.write_text(json.dumps(whole))
    told = user.types("profile", "paths", "judge", str(path))
    assert told.status == 2
    assert "call_sites" in told.err
    # As maps were written before paths could keep call sites.
    del whole["nodes"]["call_site"]
    path.write_text(json.dumps(whole))
    assert user.types("profile", "paths", "judge", str(path)).status == 0
    assert read_map(str(path)).call_sites is None


def test_samples_have_the_call_sites_of_their_paths_in_every_format(
    user: User, tmp_path: Path, program
):
    sites = learnt(user, program, tmp_path / "map", "--call-sites")
    profile, html = str(tmp_path / "profile"), tmp_path / "page.html"
    record = ("profile", "record", "--paths", str(sites), "-o", profile)
    told = user.types(*record, "--", program, "30000000")
    assert told.status == 0, told.err
    report = ("profile", "report", profile)
    told = user.types(*report, "--json", str(tmp_path / "json"), "--html", str(html))
    assert "by map with call sites, learnt" in told.out
    document = json.loads((tmp_path / "json").read_text("utf-8"))
    validate(document)
    assert document["call_sites"] is True
    names = {
        name
        for path in document["paths"]
        for candidate in path["candidates"]
        for name in candidate["frames"]
    }
    first = f"twice@p.c:{line('first')}"
    assert {first, f"twice@p.c:{line('second')}", "leaf"} <= names
    assert "with call sites" in html.read_text("utf-8")
    assert first in html.read_text("utf-8")
    for name in ("folded", "pprof", "speedscope", "firefox"):
        made = tmp_path / f"out.{name}"
        told = user.types(*report, "--format", name, "-o", str(made))
        assert told.status == 0, told.err
        data = made.read_bytes()
        assert first.encode() in (data if name != "pprof" else unpacked(data))


def unpacked(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
