"""Builds and repetition levels, with real compilers and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Told, User
from tests.needs import needs

Script = Callable[..., str]
PROGRAM = """
#include <stdio.h>
int main(void) {
    volatile unsigned value = 1;
    for (int i = 0; i < ROUNDS; ++i)
        value = value * 1103515245u + 12345u;
    printf("cost %d\\n", ROUNDS);
    return 0;
}
"""
MAKEFILE = """
CC = gcc
ROUNDS = 1000
prog: prog.c
\t$(CC) $(CFLAGS) -DROUNDS=$(ROUNDS) -o $@ $<
"""

needs_compiler = needs("gcc", "make")


@pytest.fixture
def source(user: User) -> str:
    """A C program with a Makefile."""
    directory = user.home / "source"
    directory.mkdir()
    (directory / "prog.c").write_text(PROGRAM)
    (directory / "Makefile").write_text(MAKEFILE)
    return str(directory)


def trials_of(user: User) -> list[dict]:
    return user.types("show", "latest", "--json", "-", "--trials").document()["trials"]


def provenance_of(user: User) -> dict:
    return user.types("show", "latest", "--json", "-").document()["provenance"]


def codes(told: Told) -> list[str]:
    return [warning["code"] for warning in told.document()["warnings"]]


@needs_compiler
def test_each_build_is_new_and_its_executions_follow_it(user: User, source: str) -> None:
    build = ("--build", "make prog", "--build-source", source)
    counts = ("--repeat", "build=3", "--repeat", "execution=2")
    told = user.types("measure", *build, *counts, "--json", "-", "--", "{build}/prog")
    assert told.status == 0, told.err
    document = told.document()
    assert document["variants"][0]["repetitions"] == {"build": 3, "execution": 2, "iteration": 1}
    assert document["variants"][0]["metrics"]["wall_time"]["count"] == 3
    trials = trials_of(user)
    assert [(t["block"], t["build"]) for t in trials] == [(b, b) for b in range(3) for _ in "12"]
    costs = {t["build"]: t["details"]["costs_s"]["build"] for t in trials}
    assert all(cost_s > 0 for cost_s in costs.values())
    builds = provenance_of(user)["builds"]
    assert len({item["realised"]["seed"] for item in builds}) == 3
    assert len({item["program"]["sha256"] for item in builds}) == 1
    assert not list(user.home.rglob("*.work"))


@needs_compiler
def test_each_build_has_a_layout_of_its_own(user: User, source: str) -> None:
    for number in range(4):
        text = f"int part{number}(void) {{ return {number}; }}"
        (user.home / "source" / f"part{number}.c").write_text(text + "\n")
    parts = " ".join(f"part{number}.o" for number in range(4))
    (user.home / "source" / "Makefile").write_text(
        f"prog: prog.o {parts}\n\t$(CC) -o $@ $^\nprog.o: CFLAGS = -DROUNDS=9\n"
    )
    told = user.types(
        *("measure", "--build", "make prog", "--build-source", source, "--repeat", "build=4"),
        *("--randomize", "link-order", "--cc", "gcc", "--", "{build}/prog"),
    )
    assert told.status == 0, told.err
    builds = provenance_of(user)["builds"]
    assert len({item["program"]["sha256"] for item in builds}) > 1
    assert all("link-order" in str(item["realised"]) for item in builds)


@needs_compiler
def test_one_program_is_compared_in_several_builds(user: User, source: str) -> None:
    builds = ("--build", "make ROUNDS=100 prog", "--build", "make ROUNDS=9000 prog")
    told = user.types(
        *("compare", "--build-source", source, *builds, "--repeat", "build=6"),
        *("--repeat", "execution=2", "--json", "-", "{build}/prog"),
        *("--metric", r"cost=regex:cost (\d+):count"),
    )
    document = told.document()
    names = [variant["name"] for variant in document["variants"]]
    assert names == ["make ROUNDS=100 prog", "make ROUNDS=9000 prog"]
    ratio = document["comparisons"][0]["ratio"]
    assert (ratio["estimate"], ratio["method"].split("-")[0]) == (90, "fieller")
    order = [(t["build"], t["variant"]) for t in trials_of(user)]
    assert Counter(order) == {(b, n): 2 for b in range(6) for n in names}
    assert [build for build, _ in order] == sorted(build for build, _ in order)


@needs_compiler
def test_one_build_is_made_once_and_the_answer_says_so(user: User, source: str) -> None:
    build = ("--build", "make prog", "--build-source", source, "--repeat", "build=1")
    told = user.types("measure", *build, "--runs", "4", "--json", "-", "--", "{build}/prog")
    assert told.status == 0, told.err
    assert "one-build" in codes(told)
    assert len(provenance_of(user)["builds"]) == 1
    assert told.document()["variants"][0]["repetitions"]["execution"] == 4


def test_the_directory_of_the_build_is_in_the_environment(user: User) -> None:
    program = 'echo "$STEELYARD_BUILD_DIR"; grep -q 7 "$STEELYARD_BUILD_DIR/made"'
    told = user.types(
        *("measure", "--shell", "--build", "echo 7 > made", "--repeat", "build=2", "--", program)
    )
    assert told.status == 0, told.err


def test_the_build_is_found_by_all_that_is_done_around_a_trial(user: User) -> None:
    told = user.types(
        *("measure", "--build", "cp /bin/true prog", "--runs", "2", "--directory", "{build}"),
        *("--setup", "true", "--prepare", "test -x {build}/prog", "--cleanup", "rm {build}/prog"),
        *("--env", "PLACE={build}", "--warmup", "0", "--", "./prog"),
    )
    assert told.status == 0, told.err


def test_warm_ups_run_the_first_build(user: User) -> None:
    build = ("--build", "cp /bin/true prog", "--repeat", "execution=2", "--warmup", "1")
    user.types("measure", *build, "--runs", "2", "--", "{build}/prog")
    assert user.types("resume", "latest", "--runs", "3").status == 0
    trials = trials_of(user)
    assert [t["build"] for t in trials if not t["warmup"]] == [0, 0, 1, 1, 2, 2]
    assert [t["build"] for t in trials if t["warmup"]] == [0, 0]
    provenance = provenance_of(user)
    sessions = (provenance, *provenance["resumed"])
    assert [[b["build"] for b in session["builds"]] for session in sessions] == [[0, 1], [0, 2]]


def test_the_sequential_order_builds_one_variant_after_the_other(user: User) -> None:
    user.types(
        *("compare", "--order", "sequential", "--build", "cp /bin/true prog", "--runs", "2"),
        *("--repeat", "execution=2", "--name", "a", "--name", "b", "{build}/prog", "{build}/prog"),
    )
    trials = sorted(trials_of(user), key=lambda trial: trial["started_unix_s"])
    assert [(t["variant"], t["build"]) for t in trials] == [
        (name, build) for name in "ab" for build in (0, 0, 1, 1)
    ]


def test_a_build_that_fails_at_times_fails_its_trials_and_keeps_its_log(
    user: User, script: Script
) -> None:
    counter = user.home / "count"
    build = script(
        f"echo x >> {counter}; n=$(wc -l < {counter}); echo try $n\n"
        f"[ $n = 2 ] && {{ echo bad luck >&2; exit 7; }}\n"
        "cp /bin/true prog"
    )
    counts = ("--repeat", "build=4", "--repeat", "execution=3")
    told = user.types("measure", "--build", build, *counts, "--json", "-", "--", "{build}/prog")
    assert told.status == 3
    assert told.document()["variants"][0]["failed"] == 3
    assert told.document()["variants"][0]["metrics"]["wall_time"]["count"] == 3
    failed = [t for t in trials_of(user) if t["status"] == "failed"]
    assert [(t["build"], t["reason"]) for t in failed] == [(1, "build")] * 3
    assert "exit code 7" in failed[0]["details"]["error"]
    assert Path(failed[0]["details"]["log"]).read_text() == "try 2\nbad luck\n"
    assert failed[0]["details"]["costs_s"]["build"] > 0
    user.types("delete", "latest", "--yes")
    assert not Path(failed[0]["details"]["log"]).exists()


@pytest.mark.parametrize("counts", [("--repeat", "build=9"), ("--repeat", "build=1")])
def test_a_build_that_never_succeeds_ends_the_experiment(
    user: User, counts: tuple[str, ...]
) -> None:
    told = user.types("measure", "--build", "false", *counts, "--", "{build}/prog")
    assert told.status == 3
    assert "its build failed" in told.err
    assert 1 <= len({trial["build"] for trial in trials_of(user)}) <= 3


def test_a_build_without_the_program_has_failed(user: User) -> None:
    told = user.types("measure", "--build", "true", "--runs", "9", "--", "{build}/prog")
    assert told.status == 3
    assert "The build succeeded, but there is no program '{build}/prog'" in told.err


def test_levels_of_the_user_begin_with_their_commands(user: User, script: Script) -> None:
    log = user.home / "log"
    command = script(f"echo $1 $STEELYARD_REPETITION >> {log}", "enter")
    told = user.types(
        *("measure", "--level", f"machine={command} m", "--level", f"reboot={command} r"),
        *("--repeat", "machine=3", "--repeat", "reboot=2", "--repeat", "execution=2"),
        *("--json", "-", "--", "true"),
    )
    assert told.status == 0, told.err
    assert log.read_text().split("\n")[:-1] == [
        "m 0", "r 0", "r 1", "m 1", "r 2", "r 3", "m 2", "r 4", "r 5",
    ]  # fmt: skip
    variant = told.document()["variants"][0]
    assert variant["repetitions"] == {
        **{"machine": 3, "reboot": 2, "build": 1, "execution": 2, "iteration": 1}
    }
    assert variant["metrics"]["wall_time"]["count"] == 3
    trials = trials_of(user)
    assert [t["levels"] for t in trials] == [[r // 2, r] for r in range(6) for _ in "12"]
    assert set(trials[0]["details"]["costs_s"]) == {"machine", "reboot"}


def test_a_command_of_a_level_that_fails_fails_its_trials(user: User, script: Script) -> None:
    command = script('[ "$STEELYARD_REPETITION" != 1 ] || { echo no power; exit 4; }', "enter")
    told = user.types(
        *("measure", "--level", f"machine={command}", "--repeat", "machine=3"),
        *("--repeat", "execution=2", "--json", "-", "--", "true"),
    )
    assert told.status == 3
    failed = [t for t in trials_of(user) if t["status"] == "failed"]
    assert [(t["levels"], t["reason"]) for t in failed] == [([1], "prepare")] * 2
    assert "exit code 4: no power" in failed[0]["details"]["error"]


def test_it_is_resumed_in_the_middle_of_a_block(user: User, script: Script) -> None:
    """The budget ends nothing within a block, so its journal is cut there."""
    build = ("--build", "cp /bin/true prog", "--repeat", "execution=3")
    told = user.types("measure", *build, "--runs", "2", "--", "{build}/prog")
    assert told.status == 0, told.err
    (journal,) = user.home.rglob("*.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if '"trial":5' in line.replace(" ", ""))
    journal.write_text("".join(lines[:last]))
    told = user.types("resume", "latest", "--runs", "3", "--json", "-")
    assert told.status == 0, told.err
    trials = trials_of(user)
    assert [t["position"] for t in trials] == list(range(9))
    assert [t["build"] for t in trials] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    sessions = provenance_of(user)
    seeds = [b["realised"]["seed"] for s in (sessions, *sessions["resumed"]) for b in s["builds"]]
    assert seeds[1] == seeds[2]
    assert len(set(seeds)) == 3


def test_precision_stops_by_the_means_of_builds(user: User) -> None:
    told = user.types(
        *("measure", "--build", "cp /bin/true prog", "--repeat", "execution=2"),
        *("--metric", "max_rss", "--precision", "20%", "--min-runs", "5", "--json", "-"),
        *("--", "{build}/prog"),
    )
    document = told.document()
    assert document["stopped"] == "precision"
    assert document["variants"][0]["repetitions"]["build"] == 5


def test_the_number_of_iterations_is_asked_of_the_program(user: User, script: Script) -> None:
    path = script(
        "for i in $(seq $1); do echo '{\"value\": 1}'; done; "
        '[ "$1" = "$STEELYARD_ITERATION_COUNT" ]'
    )
    told = user.types(
        *("measure", "--runs", "2", "--iterations", "json-lines", "--warmup-iterations", "2"),
        *("--repeat", "iteration=5", "--json", "-", "--", path, "{iteration_count}"),
    )
    assert told.status == 0, told.err
    assert told.document()["variants"][0]["repetitions"]["iteration"] == 5
    assert "other-iteration-count" not in codes(told)


def test_another_number_of_iterations_is_told(user: User, script: Script) -> None:
    path = script("for i in 1 2 3; do echo '{\"value\": 1}'; done")
    told = user.types(
        *("measure", "--runs", "2", "--iterations", "json-lines", "--repeat", "iteration=5"),
        *("--json", "-", "--", path),
    )
    (warning,) = [w for w in told.document()["warnings"] if w["code"] == "other-iteration-count"]
    assert "asked for 5 iterations and gave 3" in warning["message"]


def test_an_experiment_with_levels_goes_to_a_file_and_back(user: User) -> None:
    build = ("--build", "cp /bin/true prog", "--level", "session", "--repeat", "session=2")
    user.types("measure", *build, "--repeat", "build=2", "--", "{build}/prog")
    before = user.types("show", "latest", "--trials", "--json", "-").document()
    assert [trial["levels"] for trial in before["trials"]] == [[0], [0], [1], [1]]
    user.types("export", "latest", "--format", "steelyard-json", "-o", "e.json")
    assert user.types("delete", "latest", "--yes").status == 0
    assert user.types("import", "e.json").status == 0
    after = user.types("show", "latest", "--trials", "--json", "-").document()
    assert after == before
    told = user.types("export", "latest", "-o", "e.csv")
    assert "no place for the levels session above builds" in told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--repeat", "build=2", "--", "true"), "--repeat build needs a --build command"),
        (("--cc", "clang", "--", "true"), "--cc goes with --build only"),
        (("--build", "make", "--randomize", "colour", "--", "true"), "There is no randomisation"),
        (("--repeat", "execution=3", "--runs", "5", "--", "true"), "does not go with --runs"),
        (("--build", "make", "--build-source", "nowhere", "--", "true"), "There is no directory"),
        (("--build", "make", "--build-source", ".", "--", "true"), "holds the store"),
    ],
)
def test_a_wrong_call_is_told_what_is_right_and_leaves_nothing(
    user: User, arguments: tuple[str, ...], message: str
) -> None:
    told = user.types("measure", *arguments)
    assert told.status == 2
    assert message in told.err
    assert user.types("list", "--json", "-").document()["experiments"] == []
