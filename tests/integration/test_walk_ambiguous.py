"""`steelyard profile record --walk-ambiguous`: stacks are walked as far as tells a path."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from steelyard.profile.sampler_command import sampler_path
from tests.integration.conftest import User, validate
from tests.needs import need, needs_root, needs_x86_64

pytestmark = needs_x86_64
# `leaf` has one height below `left`, `right` and `third`, which only an argument leads to; below
# `near` it has one of its own.
PROGRAM = r"""
#include <pthread.h>
#define FUNCTION __attribute__((noinline, noclone, aligned(16)))
volatile long sink;
int has_more;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void left(long n) { leaf(n); sink += 1; }
FUNCTION void right(long n) { leaf(n); sink += 1; }
FUNCTION void third(long n) { leaf(n); sink += 1; }
FUNCTION void near(long n) { leaf(n); sink += 1; }
FUNCTION void via(void (*called)(long), long n) { called(n); sink += 1; }
FUNCTION void turn(long n) {
    via(left, n); via(right, n); near(n);
    if (has_more) via(third, n);
    sink += 1;
}
void* in_thread(void* given) { for (int k = 0; k < 60; k++) turn(1000000); return given; }
int main(int count, char** words) {
    pthread_t thread;
    has_more = count > 1;
    pthread_create(&thread, 0, in_thread, 0);
    for (int k = 0; k < 60; k++) turn(1000000);
    pthread_join(thread, 0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    need("gcc")
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM)
    command = ["gcc", "-O2", "program.c", "-o", "program", "-pthread"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "program")


@pytest.fixture
def path_map(user: User, program: str, tmp_path: Path) -> str:
    found = str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", found, "--", program)
    assert told.status == 0, told.err
    return found


def walked(user: User, path_map: str, *argv: str):
    """What a recording with walks says."""
    profile = str(Path(path_map).with_name("profile"))
    words = ("--paths", path_map, "--walk-ambiguous", "--period", "500us")
    told = user.types("profile", "record", *words, "-o", profile, "--", *argv)
    assert told.status == 0, told.err
    document = user.types("profile", "report", profile, "--json", "-").document()
    validate(document)
    return document


def resolved_names(document) -> set[str]:
    return {" ".join(one["frames"]) for one in document["paths"] if len(one["candidates"]) == 1}


def test_callers_tell_what_heights_do_not(user: User, program, path_map):
    document = walked(user, path_map, program)
    walks = document["walked"]
    assert walks["told"] == walks["stacks"] > 20
    assert walks["foreign"] == 0
    # `leaf`, and the caller that tells.
    assert walks["frames"] == 2 * walks["stacks"]
    assert walks["copied_bytes"] > 0
    known = {"main turn via left leaf", "main turn via right leaf", "main turn near leaf"}
    known |= {f"in_thread {path.removeprefix('main ')}" for path in known}
    assert known <= resolved_names(document)
    profile = str(Path(path_map).with_name("profile"))
    assert "stacks walked at ambiguous keys, 2.0 frames each" in " ".join(
        user.types("profile", "report", profile).out.split()
    )
    page = Path(path_map).with_name("page.html")
    assert user.types("profile", "report", profile, "--html", str(page)).status == 0
    assert "stacks walked at ambiguous keys" in page.read_text("utf-8")


def test_a_stack_that_shows_a_path_of_no_learnt_one_has_none(user: User, program, path_map):
    document = walked(user, path_map, program, "more")
    assert document["walked"]["foreign"] > 0
    assert not any("third" in name for name in resolved_names(document))
    reasons = {one["reason"]: one["samples"] for one in document["missing_in"]}
    why = "its stack shows none of the learnt paths of its key"
    assert reasons[why] == document["walked"]["foreign"]


@needs_root
def test_who_may_have_no_program_in_the_kernel_has_every_stack_copied(
    user: User, program, path_map, tmp_path, monkeypatch
):
    need("setpriv")
    without = tmp_path / "without"
    drop = shlex.join(("setpriv", "--bounding-set=-all", sampler_path()))
    without.write_text(f'#!/bin/sh\nexec {drop} "$@"\n')
    without.chmod(0o755)
    monkeypatch.setitem(user.environment, "STEELYARD_SAMPLER", str(without))
    document = walked(user, path_map, program)
    walks = document["walked"]
    assert not walks["at_ambiguous_alone"]
    assert walks["told"] == walks["stacks"] > 20
    assert {"main turn via left leaf", "in_thread turn via right leaf"} <= resolved_names(document)
    told = user.types("profile", "report", str(tmp_path / "profile"))
    assert "at every sample: this kernel picks none for this user" in " ".join(told.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--stacks=dwarf",), "--stacks keeps the chain of every sample"),
        (("--library-frames",), "--library-frames copies each stack"),
        (("--at-call", "leaf"), "of events no stack is copied"),
    ],
)
def test_what_does_not_go_with_walks_is_refused_by_name(
    user: User, program, path_map, tmp_path, words, message
):
    asked = ("--paths", path_map, "--walk-ambiguous", *words, "-o", str(tmp_path / "p"))
    told = user.types("profile", "record", *asked, "--", program)
    assert told.status == 2
    assert message in told.err
    assert not (tmp_path / "p").exists()


def test_walks_take_a_map_and_the_program_itself(user: User, program, path_map):
    for words, message in (
        (("--walk-ambiguous", "--", program), "goes with --paths"),
        (("--walk-ambiguous", "--paths", "auto", "--", program), "has no map yet"),
        (("--walk-ambiguous", "--paths", path_map, "--", "env", program), "names program itself"),
    ):
        told = user.types("profile", "record", *words)
        assert told.status == 2
        assert message in told.err
