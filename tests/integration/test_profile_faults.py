"""What programs do to a sampler: they become others, multiply, drop their code, and die."""

import signal
import subprocess

import pytest

from tests.integration.profiling import sampled, samples_of
from tests.needs import need

LIBRARY = r"""
__attribute__((noinline)) void NAME(long n) {
    unsigned long x = 1;
    for (long i = 0; i < n; i++) {
        x = x * 2862933555777941757UL + 1;
        __asm__ volatile("" : "+r"(x));
    }
}
"""
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static inline __attribute__((always_inline)) void chain(long n) {
    unsigned long x = 1;
    for (long i = 0; i < n; i++) {
        x = x * 2862933555777941757UL + 1;
        __asm__ volatile("" : "+r"(x));
    }
}
/* Of the same size each: some 30 ms, or so many times that. */
static long LONG = 25000000;
APART void before(void) { chain(LONG); }
APART void after(void) { chain(LONG); }
APART void in_parent(void) { chain(LONG); }
APART void in_child(void) { chain(LONG); }
APART void in_thread(void) { chain(LONG / 500); }
APART void left_behind(void) { chain(3L * LONG); }
static void *short_thread(void *unused) { in_thread(); return unused; }
static void *long_thread(void *unused) { left_behind(); exit(5); return unused; }
static void use_library(const char *path, const char *function) {
    void *library = dlopen(path, RTLD_NOW);
    void (*work)(long) = (void (*)(long))dlsym(library, function);
    work(LONG);
    dlclose(library);
}
int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "", *size = count > 2 ? words[2] : "1";
    pthread_t thread;
    LONG *= atol(size);
    if (!strcmp(what, "exec")) {
        before();
        execl(words[0], words[0], "after", size, (char *)0);
    } else if (!strcmp(what, "after")) {
        after();
    } else if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) { in_child(); _exit(0); }
        in_parent();
        waitpid(child, 0, 0);
    } else if (!strcmp(what, "threads")) {
        for (int i = 0; i < 1000; i++) {
            pthread_create(&thread, 0, short_thread, 0);
            pthread_join(thread, 0);
        }
    } else if (!strcmp(what, "libraries")) {
        for (int i = 0; i < 3; i++) {
            use_library(words[3], "in_first");
            use_library(words[4], "in_second");
        }
    } else if (!strcmp(what, "signal")) {
        before();
        raise(SIGSEGV);
    } else if (!strcmp(what, "first-thread-ends")) {
        pthread_create(&thread, 0, long_thread, 0);
        pthread_exit(0);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    need("gcc")
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "faulty.c").write_text(PROGRAM)
    (folder / "library.c").write_text(LIBRARY)
    words = ["faulty.c", "-o", "faulty", "-pthread", "-ldl"]
    subprocess.run(["gcc", "-O1", *words], cwd=folder, check=True)
    for name in ("in_first", "in_second"):
        words = [f"-DNAME={name}", "-shared", "-fPIC", "library.c", "-o", f"{name}.so"]
        subprocess.run(["gcc", "-O1", *words], cwd=folder, check=True)
    return folder


# Of each function some tens are meant to be among them.
ENOUGH_SAMPLES = 60


@pytest.fixture(params=["cpus", "threads"])
def recorded(user, programs, request):
    """Records the program doing something, on whole CPUs and by threads."""

    def record_once(what, size, status):
        scope = ["--threads-only"] if request.param == "threads" else []
        libraries = [str(programs / f"{name}.so") for name in ("in_first", "in_second")]
        words = [str(programs / "faulty"), what, str(size), *libraries]
        sampled(user, "record", "--period", "200us", *scope, "--", *words, status=status)
        return user.types("profile", "report", "--json", "-").document()

    def record(what, status=0, size=1):
        # How many samples come in a time is the machine's: where they are few it takes longer.
        document = record_once(what, size, status)
        if document["samples"] < ENOUGH_SAMPLES:
            document = record_once(what, 20, status)
        return document, samples_of(document)

    record.scope = request.param
    return record


def are_of_one_size(document, *names):
    """Whether of functions that take as long each none is seen far too often or too seldom, by the
    intervals of their shares. On a busy machine a thread is watched late: they are wider by it.
    They do not take turns, and something else may have run during the one or the other."""
    shares = {item["name"]: item["share"] for item in document["functions"] if item["samples"]}
    return all(
        shares[name]["low"] < 1.34 / len(names) and shares[name]["high"] > 0.66 / len(names)
        for name in names
    )


def test_a_program_that_becomes_another_is_followed(recorded):
    document, samples = recorded("exec", size=20)
    # However seldom: who is never seen again is lost.
    assert {"before", "after"} <= {name for name in samples if samples[name]}, document["recording"]
    # They lie at different places where addresses are randomised.
    assert are_of_one_size(document, "before", "after")


def test_a_child_is_followed_and_told_from_its_parent(recorded):
    document, _ = recorded("fork", size=20)
    assert are_of_one_size(document, "in_parent", "in_child")
    assert len(document["threads"]) == 2


def test_a_thousand_short_threads_are_seen(recorded):
    document, samples = recorded("threads")
    # By threads one is watched from a moment after its start: these are gone by then.
    if recorded.scope == "cpus":
        assert max(samples, key=samples.get) == "in_thread"
        # Of a thousand that are alike, few are seen twice.
        assert len(document["threads"]) > samples["in_thread"] / 4


def test_code_of_libraries_that_came_and_went_is_named(recorded):
    document, _ = recorded("libraries", size=20)
    # The second is loaded where the first was.
    assert are_of_one_size(document, "in_first", "in_second")


def test_a_program_that_a_signal_ends_has_its_profile_and_its_status(recorded):
    document, samples = recorded("signal", status=128 + signal.SIGSEGV)
    assert samples["before"] > document["samples"] / 2
    # How busy the machine was may be told, but nothing is missing.
    assert not {"cut-off", "unwatched-threads"} & {item["code"] for item in document["warnings"]}


def test_a_program_goes_on_when_its_first_thread_has_ended(recorded):
    document, samples = recorded("first-thread-ends", status=5)
    # It computes after that thread alone.
    assert samples["left_behind"] > document["samples"] / 2
