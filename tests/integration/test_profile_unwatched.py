"""Threads that end before they can be watched: their time is known, and every interval has it."""

from __future__ import annotations

import subprocess

import pytest

from tests.integration.conftest import User
from tests.integration.profiling import sampled
from tests.needs import need

# Prints which part of its processor time was spent in each of its functions, by its own clocks.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}
static inline __attribute__((always_inline)) void chain(long n) {
    unsigned long x = 1;
    for (long i = 0; i < n; i++) {
        x = x * 2862933555777941757UL + 1;
        __asm__ volatile("" : "+r"(x));
    }
}
__attribute__((noinline)) void in_main(long n) { chain(n); }
__attribute__((noinline)) void in_short(long n) { chain(n); }
static double short_s;
static void *work(void *n) {
    double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    in_short((long)n);
    short_s += seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    return 0;
}
int main(int count, char **words) {
    long turns = atol(words[1]), mine = atol(words[2]), theirs = atol(words[3]);
    double main_s = 0;
    for (long i = 0; i < turns; i++) {
        pthread_t thread;
        double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
        in_main(mine);
        main_s += seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        if (theirs) {
            pthread_create(&thread, 0, work, (void *)theirs);
            pthread_join(thread, 0);
        }
    }
    double whole = seconds(CLOCK_PROCESS_CPUTIME_ID);
    printf("%.9f %.9f\n", main_s / whole, short_s / whole);
    return count != 4;
}
"""
# Threads of some 20 µs, which end before anybody can look at them, and of some hundred.
LIVES = (10_000, 100_000)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    need("gcc")
    folder = tmp_path_factory.mktemp("threads")
    (folder / "threads.c").write_text(PROGRAM)
    words = ("gcc", "-O1", "-pthread", "threads.c", "-o", "threads")
    subprocess.run(words, cwd=folder, check=True)
    return str(folder / "threads")


@pytest.mark.parametrize("life", LIVES)
def test_intervals_of_a_program_with_short_threads_hold_where_threads_are_watched(
    user: User, program: str, life: int
) -> None:
    words = (program, str(100_000_000 // life), "30000", str(life))
    told = sampled(user, "record", "--threads-only", "--", *words)
    # A miss is as rare as one in a hundred million. How busy the machine is changes nothing:
    # truth and samples are of processor time, and what the sampler was late for is not watched.
    words = ("profile", "report", "--confidence", "0.99999999", "--json", "-")
    document = user.types(*words).document()
    shares = {item["name"]: item["share"] for item in document["functions"]}
    for name, truth in zip(("in_main", "in_short"), map(float, told.out.split()), strict=True):
        if name in shares:
            assert shares[name]["low"] <= truth <= shares[name]["high"], (name, truth)
    assert 0 < document["unwatched_ratio"] < 1
    # Where the sampler was late on a busy machine, that is told in place of what is hardly a part.
    codes = {item["code"] for item in document["warnings"]}
    assert codes & {"unwatched-threads", "delayed-samples"} or document["unwatched_ratio"] < 0.01


def test_a_program_that_is_watched_as_a_whole_has_intervals_of_no_more_than_chance(
    user: User, program: str
) -> None:
    # Without a thread beside its first, which on a busy machine ends before it can be watched.
    sampled(user, "record", "--threads-only", "--", program, "1", "1800000000", "0")
    document = user.types("profile", "report", "--json", "-").document()
    times = document["recording"]
    # Where the machine is busy the sampler misses looks, and says so by itself. What the kernel
    # does for a program before that begins is counted, and watched by nobody.
    known_ns = times["watched_ns"] + times["missed_ns"]
    assert known_ns == pytest.approx(times["program_ns"], rel=0.01, abs=20_000_000)
    is_told = "unwatched-threads" in {item["code"] for item in document["warnings"]}
    assert is_told == (known_ns <= 0.99 * times["program_ns"])


def test_looks_by_rounds_find_the_share_of_each_function_and_say_how(
    user: User, program: str
) -> None:
    words = (program, "20", "3000000", "3000000")
    told = sampled(user, "record", "--period", "200us", "--spread", "rounds", "--", *words)
    words = ("profile", "report", "--confidence", "0.99999999", "--json", "-")
    document = user.types(*words).document()
    assert document["recording"]["round_samples"] == 64
    shares = {item["name"]: item["share"] for item in document["functions"]}
    truth = float(told.out.split()[0])
    assert shares["in_main"]["low"] <= truth <= shares["in_main"]["high"]
    assert shares["in_main"]["method"] == "wilson-rounds"
    assert "dependent-intervals" not in {item["code"] for item in document["warnings"]}
