"""Event studies: what a program does inside, by its own log and by the kernel."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import steelyard
from tests.integration.conftest import User
from tests.integration.event_studies import (
    METRIC,
    PROGRAM,
    left_by_the_dead,
    may_trace,
)
from tests.needs import needs, needs_x86_64
from tests.patience import PATIENCE_S

NOBODY = 65534  # the user of nothing, by number everywhere


@pytest.fixture
def program(script: Callable[[str], str]) -> str:
    return script(PROGRAM)


def test_a_log_of_the_programs_is_counted_for_each_trial(user: User, program: str) -> None:
    told = user.types(
        "experiment", "events", *METRIC, "--runs", "6", "--log", "log=step (\\w)",
        "--html", "page.html", "--json", "-", "--", program,
    )  # fmt: skip
    document = told.document()
    assert [kind["name"] for kind in document["kinds"]] == ["log a"]
    assert document["kinds"][0]["counts"] == [run["value"] for run in document["runs"]]
    assert "step" not in (user.home / "page.html").read_text()
    again = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert again["kinds"] == document["kinds"]


def test_events_in_the_output_are_read_too(user: User, script: Callable[[str], str]) -> None:
    path = script('echo "{\\"e\\": \\"start\\"}"; echo "{\\"e\\": \\"end\\"}"')
    told = user.types(
        "experiment", "events", "--runs", "2", "--log", "-=json:e", "--json", "-", "--", path
    )
    assert [kind["name"] for kind in told.document()["kinds"]] == ["log start", "log end"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--log", "log"), "FILE=REGEX"),
        (("--log", "log=("), "is wrong"),
        (("--record", "sleep"), "Known: sched, threads, syscalls, faults"),
        (("--function", "no_such_function"), "no function"),
        (("--probe", "libc"), "PROVIDER:NAME"),
        (("--log", "log=a", "--record", "sched"), "by itself"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_runs(
    user: User, program: str, options: tuple[str, ...], wanted: str
) -> None:
    told = user.types("experiment", "events", *options, "--", program)
    assert told.status == 2
    assert wanted in told.err
    assert not (user.home / "log").exists()


def test_who_is_not_root_is_told_what_may_be_done(user: User, program: str) -> None:
    identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    process = user.start("experiment", "events", "--", program, **identity)
    _, err = process.communicate()
    if b"No module named" in err:
        pytest.skip("another user cannot read this installation")
    assert process.returncode == 4
    assert b"Only root" in err


@may_trace
def test_the_kernel_tells_of_system_calls_and_of_what_is_started(
    user: User, script: Callable[[str], str]
) -> None:
    path = script("/bin/true; /bin/true; echo units 1")
    told = user.types(
        "experiment", "events", *METRIC, "--runs", "2", "--record", "threads,syscalls",
        "--json", "-", "--", path,
    )  # fmt: skip
    document = told.document()
    counts = {kind["name"]: kind["counts"] for kind in document["kinds"]}
    assert counts["thread or process created"] == [2, 2]
    assert counts["program executed"] == [2, 2]
    assert counts["syscall execve"] == [2, 2]
    assert [run["lost"] for run in document["runs"]] == [0, 0]
    assert left_by_the_dead() == []


@may_trace
def test_a_study_among_processes_with_numbers_of_their_own_is_refused(user: User) -> None:
    inside = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    if subprocess.run((*inside, "true"), check=False, capture_output=True).returncode:
        pytest.skip("this user may make no namespaces")
    command = (sys.executable, "-m", "steelyard.cli.main", "experiment", "events")
    told = subprocess.run(
        (*inside, *command, "--record", "sched", "--", "true"),
        cwd=user.home, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert told.returncode == 4
    assert "PID namespace" in told.stderr
    assert "Traceback" not in told.stderr


# Whether an event is switched on: tracing is of the process that has started the launcher.
SWITCHED = """
study=$(awk '/^PPid/ {print $2}' /proc/$PPID/status)
echo units $(cat /sys/kernel/tracing/instances/steelyard-$study/events/sched/sched_switch/enable)
"""


@may_trace
def test_events_are_switched_off_in_the_trials_without_recording(
    user: User, script: Callable[[str], str]
) -> None:
    document = user.types(
        "experiment", "events", *METRIC, "--runs", "3", "--record", "sched", "--json", "-", "--",
        script(SWITCHED),
    ).document()  # fmt: skip
    assert (document["recorded_mean"], document["plain_mean"]) == (1, 0)


C_PROGRAM = """
#include <pthread.h>
__attribute__((noinline)) void step(void) { __asm__ volatile(""); }
static void *run(void *word) { for (int i = 0; i < 5; i++) step(); return word; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    step();
}
"""


@may_trace
@needs("cc")
def test_calls_of_a_function_are_counted_in_all_threads(user: User) -> None:
    (user.home / "p.c").write_text(C_PROGRAM)
    path = str(user.home / "p")
    subprocess.run(["cc", "-O1", "-pthread", "-o", path, str(user.home / "p.c")], check=True)
    told = user.types(
        "experiment", "events", "--runs", "2", "--function", "step", "--record", "threads",
        "--json", "-", "--", path,
    )  # fmt: skip
    counts = {kind["name"]: kind["counts"] for kind in told.document()["kinds"]}
    assert counts["function step"] == [6, 6]
    assert counts["thread or process created"] == [1, 1]
    with open("/sys/kernel/tracing/uprobe_events", encoding="utf-8") as left:
        assert path not in left.read()


PATHS_PROGRAM = """
#include <pthread.h>
__attribute__((noinline)) void step(void) { __asm__ volatile(""); }
__attribute__((noinline)) void often(void) { step(); __asm__ volatile(""); }
__attribute__((noinline)) void deep(int n) {
    if (n) deep(n - 1); else step();
    __asm__ volatile("");
}
static void *run(void *word) { for (int i = 0; i < 5; i++) often(); return word; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    deep(3);
}
"""


def compiled(user: User, *options: str) -> str:
    (user.home / "p.c").write_text(PATHS_PROGRAM)
    path = str(user.home / "p")
    subprocess.run(
        ["cc", "-O2", *options, "-pthread", "-o", path, str(user.home / "p.c")], check=True
    )
    return path


def innermost(document: dict[str, Any], event: str) -> dict[tuple[str, ...], list[int]]:
    """The counts of an event's paths, by their functions from the one below `main` or `run` on."""
    found: dict[tuple[str, ...], list[int]] = {}
    for path in document["paths"]:
        names = [frame["name"] for frame in path["frames"]]
        if path["event"] == event:
            start = next(i for i, name in enumerate(names) if name in ("main", "run"))
            found[tuple(names[start:])] = path["counts"]
    return found


@may_trace
@needs_x86_64
@needs("cc")
@pytest.mark.parametrize("options", [("-fomit-frame-pointer",), ("-no-pie", "-g")])
def test_the_call_paths_of_a_function_are_told_apart(user: User, options: tuple[str, ...]) -> None:
    path = compiled(user, *options)
    # The program is what a shell becomes, so that what the shell had mapped is of no use.
    told = user.types(
        "experiment", "events", "--runs", "3", "--function", f"{path}:step", "--record", "threads",
        "--stacks", "--html", "page.html", "--json", "-", "--", "/bin/sh", "-c", f"exec {path}",
    )  # fmt: skip
    document = told.document()
    counts = {kind["name"]: kind["counts"] for kind in document["kinds"]}
    assert counts["function step"] == [6, 6, 6]
    assert innermost(document, "function step") == {
        ("run", "often", "step"): [5, 5, 5],
        ("main", "deep", "deep", "deep", "deep", "step"): [1, 1, 1],
    }
    assert "deep &gt; deep &gt; step" in (user.home / "page.html").read_text()
    started = [path for path in document["paths"] if path["event"] == "thread or process created"]
    assert [frame["name"] for frame in started[0]["frames"]].count("main") == 1
    with open("/sys/kernel/tracing/uprobe_events", encoding="utf-8") as left:
        assert path not in left.read()
    again = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert again["paths"] == document["paths"]


@may_trace
@needs_x86_64
def test_call_paths_are_those_of_the_events_that_are_counted(user: User) -> None:
    told = user.types(
        "experiment", "events", "--runs", "2", "--record", "faults,sched,threads", "--stacks",
        "--json", "-", "--", "/bin/sh", "-c", "/bin/true; sleep 0.01; /bin/true",
    )  # fmt: skip
    document = told.document()
    for kind in document["kinds"]:
        paths = [path["counts"] for path in document["paths"] if path["event"] == kind["name"]]
        if kind["name"] in ("thread or process created", "page fault", "waits", "preempted"):
            assert [sum(counts) for counts in zip(*paths, strict=True)] == kind["counts"]
    assert "page fault inside the kernel" not in {kind["name"] for kind in document["kinds"]}


@may_trace
@pytest.mark.parametrize(
    ("options", "status", "wanted"),
    [
        (("--record", "syscalls", "--stacks"), 2, "--stacks goes with --function"),
        (("--log", "log=a", "--stacks"), 2, "--stacks goes with --function"),
        (("--record", "threads", "--stacks"), 4, "Leave --stacks out"),
    ],
)
def test_stacks_that_cannot_be_recorded_are_refused_before_anything_runs(
    user: User, program: str, options: tuple[str, ...], status: int, wanted: str
) -> None:
    broken = user.home / "recorder"
    broken.write_text("#!/bin/sh\necho 'error: This kernel gives no call stacks of its events.'\n")
    broken.chmod(0o755)
    user.environment["STEELYARD_EVENT_RECORDER"] = str(broken)
    told = user.types("experiment", "events", *options, "--", program)
    assert told.status == status
    assert wanted in told.err
    assert not (user.home / "log").exists()


@may_trace
@needs_x86_64
def test_a_recorder_that_ends_midway_costs_the_paths_of_its_trial_alone(
    user: User, program: str
) -> None:
    real = os.path.join(os.path.dirname(steelyard.__file__), "_native", "steelyard-event-recorder")
    dying = user.home / "recorder"
    dying.write_text(
        f'#!/bin/sh\nif [ "$1" = --output ] && [ ! -e {user.home}/died ]; then\n'
        f'touch {user.home}/died; echo ready; exit 1\nfi\nexec {real} "$@"\n'
    )
    dying.chmod(0o755)
    user.environment["STEELYARD_EVENT_RECORDER"] = str(dying)
    told = user.types(
        "experiment", "events", "--runs", "4", "--record", "threads", "--stacks", "--json", "-",
        "--", program,
    )  # fmt: skip
    document = told.document()
    assert len(document["runs"]) == 4
    assert {len(path["counts"]) for path in document["paths"]} == {3}
    assert "stacks-missing" in {warning["code"] for warning in document["warnings"]}


BY_MAP_PROGRAM = """
#include <pthread.h>
volatile int sink;
#define APART __attribute__((noinline))
#define BEHIND __asm__ volatile("")
APART void step(int n) { sink += n; BEHIND; }
APART void often(void) { for (int i = 0; i < 5; i++) step(i); BEHIND; }
APART void deep(int n) { if (n) deep(n - 1); else step(1); BEHIND; }
APART void left(void) { step(2); BEHIND; }
APART void right(void) { step(3); step(4); BEHIND; }
APART void seldom(void) { volatile char room[200]; room[0] = 1; step(room[0]); }
void* run(void* a) { often(); return a; }
int main(int count, char** words) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    deep(3); left(); right();
    if (count > 1) seldom();
    return 0;
}
"""


def learnt(user: User) -> tuple[str, str]:
    """A program and a map of the paths that it takes without arguments."""
    path, source = str(user.home / "p"), user.home / "p.c"
    source.write_text(BY_MAP_PROGRAM)
    subprocess.run(["cc", "-O2", "-pthread", "-o", path, str(source)], check=True)
    path_map = str(user.home / "p.paths")
    assert user.types("profile", "paths", "learn", "--output", path_map, "--", path).status == 0
    return path, path_map


@may_trace
@needs_x86_64
@needs("cc")
@pytest.mark.parametrize("way", ["{path} x", "/bin/sh -c 'exec {path} x'"])
def test_a_map_tells_the_call_paths_of_events(user: User, way: str) -> None:
    path, path_map = learnt(user)
    told = user.types(
        "experiment", "events", "--runs", "2", "--function", f"{path}:step", "--record", "faults",
        "--paths", path_map, "--html", "page.html", "--json", "-",
        "--", *shlex.split(way.format(path=path)),
    )  # fmt: skip
    document = told.document()
    steps = [one for one in document["paths"] if one["event"] == "function step"]
    found = {
        (one["outcome"], *(frame["name"] for frame in one["frames"])): one["counts"]
        for one in steps
    }
    assert found == {
        ("resolved", "run", "often", "step"): [5, 5],
        ("resolved", "main", "deep", "deep", "deep", "deep", "step"): [1, 1],
        ("ambiguous", "step"): [3, 3],
        ("missing", "step"): [1, 1],
    }
    (ambiguous,) = (one for one in steps if one["outcome"] == "ambiguous")
    shares = {one["frames"][1]["name"]: one["share"] for one in ambiguous["candidates"]}
    assert shares == pytest.approx({"right": 2 / 3, "left": 1 / 3})
    faults = [one["counts"] for one in document["paths"] if one["event"] == "page fault"]
    kinds = {kind["name"]: kind["counts"] for kind in document["kinds"]}
    assert [sum(counts) for counts in zip(*faults, strict=True)] == kinds["page fault"]
    lookups = document["lookups"]
    assert sum(lookups.values()) == sum(kinds["page fault"]) + sum(kinds["function step"])
    assert lookups["ambiguous"] == 6
    assert "66.7% main &gt; right &gt; step" in (user.home / "page.html").read_text()
    text = user.types("experiment", "events", "--experiment", "latest").out
    assert f"{lookups['resolved']} resolved (one path), 6 ambiguous (several)" in text


@may_trace
@needs_x86_64
@needs("cc")
def test_a_map_of_another_build_is_refused(user: User) -> None:
    path, path_map = learnt(user)
    subprocess.run(["cc", "-O1", "-pthread", "-o", path, str(user.home / "p.c")], check=True)
    asked = ("experiment", "events", "--runs", "2", "--function", f"{path}:step")
    told = user.types(*asked, "--paths", path_map, "--", path)
    assert told.status == 2
    assert "The map is of another build of p." in told.err
    behind = user.types(
        *asked, "--paths", path_map, "--json", "-", "--", "/bin/sh", "-c", f"exec {path}"
    ).document()
    assert behind["lookups"] == {"resolved": 0, "ambiguous": 0, "missing": 18}
    assert "other-build" in {warning["code"] for warning in behind["warnings"]}


@may_trace
@needs_x86_64
@needs("cc")
def test_a_map_that_cannot_be_used_is_refused_before_anything_runs(user: User) -> None:
    path, path_map = learnt(user)
    damaged = user.home / "damaged.paths"
    damaged.write_text("{")
    for words, wanted in [
        (("--paths", str(damaged)), "is not JSON"),
        (("--paths", path_map, "--record", "syscalls"), "--paths goes with --function"),
        (("--paths", path_map, "--stacks"), "say either stacks or paths"),
    ]:
        told = user.types("experiment", "events", *words, "--", path)
        assert told.status == 2
        assert wanted in told.err


@may_trace
@needs_x86_64
@needs("cc")
def test_a_map_is_looked_for_beside_the_file_that_names_it(user: User) -> None:
    path, path_map = learnt(user)
    folder = user.home / "study"
    folder.mkdir()
    os.rename(path_map, folder / "p.paths")
    (folder / "study.toml").write_text(
        f'[experiment]\nruns = 1\n[[benchmark]]\ncommand = ["{path}"]\n'
        f'[events]\nfunctions = ["step"]\npaths = "p.paths"\n'
    )
    told = user.types("experiment", "events", "--file", "study/study.toml", "--json", "-")
    assert told.document()["lookups"] == {"resolved": 6, "ambiguous": 3, "missing": 0}
