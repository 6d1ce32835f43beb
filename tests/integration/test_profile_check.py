"""Checks of profilers are experiments: what is killed of one is kept, and is gone on with."""

from __future__ import annotations

import fcntl
import subprocess

import pytest

from tests.integration.killing import kill_while_halted, kill_while_waiting
from tests.integration.profiling import sampled
from tests.needs import need

# Of its runs it counts those of the experiment, which has a journal then, and not those before. In
# the run of the number it waits to be killed, halts Steelyard and ends, or kills its profiler.
SOURCE = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define JOURNALS "data/steelyard/steelyard.sqlite.journals"
volatile unsigned long total;
#define LOOP \
    unsigned long value = count; \
    for (unsigned long i = 0; i < count; i++) value = value * 2862933555777941757UL + i; \
    total += value
__attribute__((noinline)) void slow(unsigned long count) { LOOP; }
__attribute__((noinline)) void rest(unsigned long count) { LOOP; }
static long counted(void) {
    FILE *runs = fopen("runs", "a");
    fputc('.', runs);
    fclose(runs);
    runs = fopen("runs", "r");
    fseek(runs, 0, SEEK_END);
    return ftell(runs);
}
static void halt(void) {
    int process = 0;
    while (process == 0) {
        FILE *file = fopen("steelyard.pid", "r");
        if (file && fscanf(file, "%d", &process) != 1) process = 0;
        if (file) fclose(file);
    }
    kill(process, SIGSTOP);
}
int main(int n, char **words) {
    int is_chosen = n > 2 && access(JOURNALS, F_OK) == 0 && counted() == atol(words[2]);
    if (is_chosen && strcmp(words[3], "wait") == 0) {
        fclose(fopen("waiting", "w"));
        sleep(1000);
    }
    if (is_chosen && strcmp(words[3], "fail") == 0) return kill(getppid(), SIGKILL);
    unsigned long turns = strtoul(words[1], 0, 10) / 100;
    for (int i = 0; i < 100; i++) {
        slow(2 * turns);
        rest(turns);
    }
    if (is_chosen && strcmp(words[3], "halt") == 0) halt();
    return 3;
}
"""
TURNS = "40000000"
AMOUNTS, RUNS = 2, 3
OPTIONS = ("--function", "slow", "--amounts", str(AMOUNTS), "--runs", str(RUNS))


@pytest.fixture
def program(user):
    need("gcc")
    (user.home / "work.c").write_text(SOURCE)
    flags = ["-O1", "-fpatchable-function-entry=32", "-fno-ipa-ra"]
    subprocess.run(["gcc", *flags, "work.c", "-o", "work"], cwd=user.home, check=True)
    sampled(user, "record", "-o", "tried", "--", "./work", TURNS, status=3)
    return "./work"


def kept_trials(user):
    return user.types("show", "latest", "--trials", "--json", "-").document()["trials"]


def answers_whole(user, told):
    """Whether the slope is that of all trials, but for those in which the sampler itself failed, as
    where another test takes a CPU from it."""
    assert told.status == 0, told.err
    (slope,) = told.document()["slopes"]
    trials = kept_trials(user)
    good = sum(one["status"] == "ok" for one in trials)
    return (len(trials), slope["runs"]) == (AMOUNTS * RUNS, good)


def test_a_check_is_an_experiment_with_a_trial_of_each_delay_in_each_block(user, program):
    told = sampled(user, "check", *OPTIONS, "--json", "-", "--", program, TURNS)
    assert answers_whole(user, told)
    trials = kept_trials(user)
    assert sorted((one["block"], one["variant"]) for one in trials) == sorted(
        (block, variant) for block in range(RUNS) for variant in {one["variant"] for one in trials}
    )


@pytest.mark.parametrize("trial", [1, 4])
def test_a_killed_check_keeps_what_had_finished_and_resumes(user, program, trial):
    words = ("profile", "check", *OPTIONS, "--", program, TURNS, str(trial), "wait")
    kill_while_waiting(user, user.start(*words))
    before = kept_trials(user)
    assert len(before) == trial - 1
    assert answers_whole(user, user.types("resume", "latest", "--json", "-"))
    assert kept_trials(user)[: len(before)] == before


def test_a_profile_that_a_killed_check_had_not_read_yet_is_kept(user, program):
    words = ("profile", "check", *OPTIONS, "--", program, TURNS, "3", "halt")
    kill_while_halted(user, user.start(*words), 3)
    before = kept_trials(user)
    assert len(before) >= 3
    # Read from what its profiler had left, which a trial that ended well has.
    assert all(one["details"]["profile"]["shares"] for one in before if one["status"] == "ok")
    assert any(one["status"] == "ok" for one in before)
    assert answers_whole(user, user.types("resume", "latest", "--json", "-"))
    assert kept_trials(user)[: len(before)] == before


def test_a_run_that_fails_is_left_out_and_told(user, program):
    told = sampled(user, "check", *OPTIONS, "--json", "-", "--", program, TURNS, "2", "fail")
    assert answers_whole(user, told)
    assert "of 3 runs failed and are left out." in told.err
    assert "failed" in {one["status"] for one in kept_trials(user)}


def test_a_check_waits_for_nobody_who_measures_unless_told_to(user, program):
    with (user.home / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = user.types("profile", "check", *OPTIONS, "--", program, TURNS)
    assert told.status == 2
    assert "--wait" in told.err
