"""`steelyard profile record --paths`: call paths of samples by two registers and a map."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import NO_HEIGHT
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.sampler_command import sampler_path
from tests.integration.conftest import User, validate
from tests.needs import need, needs_x86_64

pytestmark = needs_x86_64
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void left(long n) { leaf(n); sink += 1; }
FUNCTION void right(long n) { leaf(n); sink += 1; }
FUNCTION void far(long n) { volatile char room[2000]; room[0] = 1; leaf(n); sink += room[0]; }
FUNCTION void various(long n) { volatile char room[n % 7 * 64 + 16]; room[0] = 1; leaf(n); sink++; }
FUNCTION int compare(const void* a, const void* b) { leaf(40000); return *(int*)a - *(int*)b; }
void* in_thread(void* given) { for (int k = 0; k < 40; k++) far(1000000); return given; }
int main(int count, char** words) {
    pthread_t thread;
    int numbers[200];
    pthread_create(&thread, 0, in_thread, 0);
    for (int i = 0; i < 200; i++) numbers[i] = i * 7919 % 200;
    for (int k = 0; k < 40; k++) { left(500000); right(500000); far(1000000); various(500000 + k); }
    qsort(numbers, 200, sizeof *numbers, compare);
    if (fork() == 0) { far(200000000); _exit(0); }
    wait(0);
    pthread_join(thread, 0);
    return count > 1 ? 3 : 0;
}
"""
ON_OTHER_STACK = r"""
#include <signal.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(void) { sink++; }
FUNCTION void handler(int number) { leaf(); sink += number; }
FUNCTION void raising(void) { raise(SIGUSR1); leaf(); }
int main(void) {
    stack_t other = {.ss_sp = malloc(1 << 20), .ss_size = 1 << 20};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, 0);
    sigaction(SIGUSR1, &action, 0);
    for (int k = 0; k < 3; k++) raising();
    return 0;
}
"""


def built(folder: Path, name: str, source: str = PROGRAM, *flags: str) -> str:
    need("gcc")
    (folder / f"{name}.c").write_text(source)
    command = ["gcc", "-O2", *flags, f"{name}.c", "-o", name, "-pthread"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / name)


@pytest.fixture
def learnt(user: User, tmp_path: Path) -> tuple[str, str]:
    """A program, and a map of it."""
    program, path_map = built(tmp_path, "program"), str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    return program, path_map


def recorded(user: User, path_map: str, *words: str) -> str:
    profile = str(Path(path_map).with_name("profile"))
    told = user.types("profile", "record", "--paths", path_map, "-o", profile, *words)
    assert told.status == 0, told.err
    return profile


def test_samples_have_the_paths_that_the_program_took(user: User, learnt):
    program, path_map = learnt
    profile = recorded(user, path_map, "--", "env", "PADDING=" + "x" * 60_000, program)
    document = user.types("profile", "report", profile, "--json", "-").document()
    assert document["kind"] == "paths"
    counted = document["resolved"] + document["ambiguous"] + document["missing"]
    assert counted == document["samples"]
    assert document["missing"] < 0.1 * document["samples"]
    names = {" ".join(each["frames"]): each["samples"] for each in document["paths"]}
    known = {"main far leaf", "main various leaf", "main compare leaf", "in_thread far leaf"}
    assert known <= names.keys()
    # A child of fork has the stack of its parent: 200 of the 240 million turns below `far`.
    assert names["main far leaf"] > names["in_thread far leaf"]
    (unsure,) = (one for one in document["paths"] if len(one["candidates"]) == 2)
    assert {tuple(one["frames"]) for one in unsure["candidates"]} == {
        ("main", "left", "leaf"),
        ("main", "right", "leaf"),
    }


def test_each_path_is_that_of_the_same_samples_stack(user: User, learnt):
    program, path_map = learnt
    profile = recorded(user, path_map, "--stacks=dwarf", "--period", "200us", "--", program)
    document = user.types("profile", "report", profile, "--json", "-").document()
    assert document["checked"]["samples"] > 100
    assert document["checked"]["wrong"] == 0


def test_the_kernel_is_asked_for_registers_and_for_nothing_of_the_stack(
    user: User, tmp_path, monkeypatch, learnt
):
    need("strace")
    program, path_map = learnt
    log, traced = tmp_path / "log", tmp_path / "traced"
    words = ("strace", "-f", "-v", "-o", str(log), "-e", "trace=perf_event_open,process_vm_readv")
    traced.write_text(f'#!/bin/sh\nexec {shlex.join((*words, sampler_path()))} "$@"\n')
    traced.chmod(0o755)
    monkeypatch.setitem(user.environment, "STEELYARD_SAMPLER", str(traced))
    recorded(user, path_map, "--duration", "200ms", "--", program)
    asked = [line for line in log.read_text().splitlines() if "PERF_SAMPLE_IP" in line]
    assert asked
    for line in asked:
        assert "PERF_SAMPLE_REGS_USER" in line
        assert "PERF_SAMPLE_STACK_USER" not in line
        assert "PERF_SAMPLE_CALLCHAIN" not in line
    assert "process_vm_readv" not in log.read_text()


def test_another_build_is_refused_by_name(user: User, tmp_path, learnt):
    (tmp_path / "other").mkdir()
    other = built(tmp_path / "other", "program", PROGRAM, "-O1")
    profile = str(tmp_path / "profile")
    told = user.types("profile", "record", "--paths", learnt[1], "-o", profile, "--", other)
    assert told.status == 2
    assert "another build of program" in told.err
    # What another program starts is known when its samples are read.
    recorded(user, learnt[1], "--", "env", other)
    told = user.types("profile", "report", profile)
    assert told.status == 2
    assert "No sample of this profile is in program of build" in told.err


def test_a_page_and_other_viewers_show_what_is_ambiguous(user: User, tmp_path, learnt):
    profile = recorded(user, learnt[1], "--", learnt[0])
    page, folded = str(tmp_path / "page.html"), str(tmp_path / "folded")
    told = user.types("profile", "report", profile, "--html", page)
    assert told.status == 0, told.err
    assert "one of 2 that end with leaf" in told.out
    shown = Path(page).read_text("utf-8")
    assert '"pattern"' in shown
    assert "How many paths may a sample mean?" in shown
    assert "Paths that the code allows" not in shown
    told = user.types("profile", "report", profile, "--static", "--html", page)
    assert told.status == 0, told.err
    for name in ("pprof", "speedscope", "firefox", "folded"):
        told = user.types("profile", "report", profile, "--format", name, "-o", folded)
        assert told.status == 0, told.err
    lines = Path(folded).read_text("utf-8")
    assert "[ambiguous];main;left;leaf" in lines
    assert "\nmain;far;leaf" in "\n" + lines


def test_a_profile_without_stacks_of_threads_takes_no_map(user: User, tmp_path, learnt):
    profile = str(tmp_path / "plain")
    user.types("profile", "record", "-o", profile, "--", learnt[0])
    told = user.types("profile", "report", profile, "--map", learnt[1])
    assert told.status == 2
    assert "was recorded without --paths" in told.err


def test_a_handler_on_a_stack_of_its_own_has_no_key(user: User, tmp_path):
    program, path_map = built(tmp_path, "other_stack", ON_OTHER_STACK), str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    found = read_map(path_map)
    heights: dict[str, set[bool]] = {}
    for node in found.nodes:
        has_key = node.height_bytes != NO_HEIGHT
        heights.setdefault(found.functions[node.function], set()).add(has_key)
        assert node.height_bytes < 10_000
    assert heights == {"main": {True}, "raising": {True}, "handler": {False}, "leaf": {True, False}}
    check = user.types("profile", "paths", "judge", path_map, "--json", "-").document()
    validate(check)
    assert check["offline"]["paths"]["wrong"] == 0
    assert check["offline"]["paths"]["missing"] == pytest.approx(2 / 5)
    assert json.loads(Path(path_map).read_text("utf-8"))["kind"] == "path-map"


def test_a_recording_makes_its_own_map_and_says_how_well_that_held(user: User, tmp_path):
    # Long enough that stacks of its thread are walked, on a busy machine too.
    source = PROGRAM.replace("k < 40;", "k < 200;")
    program, profile = built(tmp_path, "program", source), str(tmp_path / "profile")
    words = ("--paths", "auto", "--period", "100us", "-o", profile, "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    document = user.types("profile", "report", profile, "--json", "-").document()
    learnt = document["learnt_beside"]
    looks = learnt["looks"]
    if looks["all"] is None:
        # This kernel, or this user, cannot have looks dropped: each stack is copied.
        assert learnt["walks"] > learnt["checks"] > 10
    else:
        assert 3 <= learnt["walks"] < looks["all"] / 2
        assert looks["spared"] > looks["all"] / 2
        # No more is copied than the stacks that were walked have.
        assert looks["copied_bytes"] <= 32768 * (looks["all"] - looks["spared"])
    # One key means `left` and `right`: one of them may come when the other is believed.
    assert learnt["wrong"] <= max(2, 0.03 * learnt["checks"])
    names = {" ".join(each["frames"]) for each in document["paths"]}
    assert {"main far leaf", "in_thread far leaf"} <= names
    assert document["resolved"] > document["missing"]
    told = user.types("profile", "report", profile)
    assert "of them checked a key that was believed" in told.out


def test_a_watched_program_whose_paths_are_new_is_told_of(user: User, tmp_path, learnt):
    program, path_map = learnt
    profile = str(tmp_path / "watched")
    watch = ("profile", "record", "--watch", "--paths", path_map, "-o", profile, "--", program)
    told = user.types(*watch)
    assert told.status == 0, told.err
    assert "alert" not in told.err
    whole = json.loads(Path(path_map).read_text("utf-8"))
    heights = whole["nodes"]["height_bytes"]
    tallest = max(heights)
    whole["nodes"]["height_bytes"] = [
        height if height < tallest else NO_HEIGHT for height in heights
    ]
    del whole["digest"]
    Path(path_map).write_text(json.dumps(whole))
    told = user.types(*watch)
    assert told.status == 1
    assert f"never learnt: leaf with {tallest:,} bytes of stack" in told.err
    assert "nearest learnt, with " in told.err
    told = user.types("profile", "record", "--watch", "-o", profile, "--", program)
    assert told.status == 2
    assert "--watch goes with --paths" in told.err


LATE = r"""
#include <stdio.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void far(long n) { volatile char room[2000]; room[0] = 1; leaf(n); sink += room[0]; }
int main(int count, char** words) {
    leaf(1000);
    if (count == 1) return 0;
    while (access(words[1], F_OK) != 0) far(1000000);
    return 0;
}
"""


def test_an_alert_comes_while_the_program_runs_with_the_nearest_learnt_path(user: User, tmp_path):
    program, path_map = built(tmp_path, "late", LATE), str(tmp_path / "map")
    assert user.types("profile", "paths", "learn", "-o", path_map, "--", program).status == 0
    alerts, stop = tmp_path / "alerts", tmp_path / "stop"
    words = ("--watch", "--alerts", str(alerts), "--paths", path_map, "-o", str(tmp_path / "p"))
    process = user.start("profile", "record", *words, "--", program, str(stop))
    assert process.stderr is not None
    # The program ends by what is done once the alert was read.
    line = process.stderr.readline().decode()
    stop.touch()
    rest = process.communicate()[1].decode()
    assert "alert: a path that was never learnt: " in line
    assert process.returncode == 1
    found = [json.loads(line) for line in alerts.read_text("utf-8").splitlines()]
    assert len(found) == (line + rest).count("alert: ")
    for one in found:
        validate(one)
    (leaf,) = (one for one in found if one["function"] == "leaf")
    assert leaf["nearest"]["frames"] == ["main", "leaf"]
    assert leaf["height_bytes"] > leaf["nearest"]["height_bytes"] + 2000


def test_alerts_want_a_map_that_was_learnt_before(user: User, tmp_path):
    told = user.types("profile", "record", "--watch", "--paths", "auto", "--", "true")
    assert told.status == 2
    assert "--watch needs a map" in told.err
    told = user.types("profile", "record", "--alerts", str(tmp_path / "a"), "--", "true")
    assert told.status == 2
    assert "--alerts goes with --watch" in told.err


IN_LIBRARY = r"""
#include <string.h>
#define FUNCTION __attribute__((noinline, noclone))
static char from[1 << 20], to[1 << 20];
volatile long sink;
FUNCTION void copies(void) { for (int k = 0; k < 1500; k++) memcpy(to, from, sizeof to - sink); sink = 0; }
FUNCTION void upper(void) { volatile char room[300]; room[0] = 0; copies(); sink = room[0]; }
int main(void) { for (int k = 0; k < 3; k++) { upper(); copies(); } return 0; }
"""  # noqa: E501


def test_samples_in_libraries_have_the_path_of_their_caller_where_that_is_asked(user, tmp_path):
    program, path_map = built(tmp_path, "in_library", IN_LIBRARY), str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    profile = recorded(user, path_map, "--", program)
    plain = user.types("profile", "report", profile, "--json", "-").document()
    assert plain["missing"] > 0.8 * plain["samples"]
    profile = recorded(user, path_map, "--library-frames", "--", program)
    walked = user.types("profile", "report", profile, "--json", "-").document()
    assert walked["resolved"] > 0.8 * walked["samples"]
    names = {" ".join(each["frames"]) for each in walked["paths"]}
    assert {"main upper copies", "main copies"} <= names
    words = ("--library-frames", "--paths", path_map, "-o", profile, "--", "env", program)
    told = user.types("profile", "record", *words)
    assert told.status == 2
    assert "names in_library itself" in told.err
