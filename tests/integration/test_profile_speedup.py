import re
import shutil
import subprocess
import sys

import pytest

from tests.integration.profiling import NO_SAMPLES, sampled
from tests.needs import need

# What `slow` and `rest` take is told by their arguments; the mended build does a part of `slow`.
# A turn waits for the one before. What a loop through memory takes would depend on addresses.
SOURCE = """
#include <stdlib.h>
#ifndef PART
#define PART 1
#endif
volatile unsigned long total;
#define LOOP \\
    unsigned long value = count; \\
    for (unsigned long i = 0; i < count; i++) value = value * 2862933555777941757UL + i; \\
    total += value
__attribute__((noinline)) void slow(unsigned long count) { count /= PART; LOOP; }
__attribute__((noinline)) void rest(unsigned long count) { LOOP; }
int main(int n, char **words) {
    unsigned long turns = strtoul(words[1], 0, 10) / 100;
    /* In turns: what else the machine does is then in the way of both alike. */
    for (int i = 0; i < 100; i++) {
        slow(2 * turns);
        rest(turns);
    }
    return 3;
}
"""
# Two thirds of the time, nearly all of which is spared: the mended build takes a third.
SHARE = 2 / 3
PART = 40
# Some hundreds of samples a run.
TURNS = "300000000"


def build_both(folder):
    """The program as it is and with `slow` mended, in this order."""
    need("gcc")
    (folder / "work.c").write_text(SOURCE)
    for name, part in (("before", 1), ("after", PART)):
        command = ["gcc", "-O1", f"-DPART={part}", "work.c", "-o", name]
        subprocess.run(command, cwd=folder, check=True)
    return str(folder / "before"), str(folder / "after")


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    return build_both(tmp_path_factory.mktemp("speedup"))


def test_a_mended_function_brings_what_samplers_promise(user, builds):
    before, after = builds
    profilers = ["steelyard", *(["perf"] if shutil.which("perf") else [])]
    asked = [word for name in profilers for word in ("--profiler", name)]
    told = user.types(
        "profile",
        *("check", "--function", "slow", "--speedup", f"{after} {TURNS}", "--runs", "2", *asked),
        *("--json", "-", "--html", "page.html", "--", before, TURNS),
    )
    crashed = ("under perf was ended by signal SIGABRT", "perf itself was ended by SIG")
    if any(words in told.err for words in crashed):
        pytest.skip(f"perf itself crashes on this machine: {told.err}")
    if told.status == NO_SAMPLES:
        pytest.skip(f"this machine gives no samples: {told.err}")
    assert told.status == 0, told.err
    document = told.document()
    assert [promise["profiler"] for promise in document["promises"]] == profilers
    # Both functions take turns, so a share of samples does not depend on what else runs. A time
    # does; tests/slow/test_profile_gain.py judges how near gains come.
    assert document["gain"]["estimate"] > 0
    for promise in document["promises"]:
        assert promise["rank"] == 1
        assert promise["share"]["estimate"] == pytest.approx(SHARE, abs=0.15)
        assert promise["gain"]["estimate"] > 0
    assert "Does mending slow" in (user.home / "page.html").read_text()


def test_a_factor_promises_without_a_profile_of_the_mended_build(user, builds):
    need("valgrind")
    before, after = builds
    told = sampled(
        user,
        *("check", "--function", "slow", "--speedup", f"{after} 1000000", "--factor", "4"),
        *("--runs", "2", "--profiler", "callgrind", "--json", "one.json", "--", before, "1000000"),
    )
    # Instructions are counted, and do not vary; those of the start are few.
    assert re.search(r"callgrind +1 +6[56]\.\d % .* (49|50)\.\d % ", told.out)
    assert "the function's share times 1 - 1/4" in told.out


def test_the_same_build_twice_cannot_tell(user, builds):
    before, _ = builds
    told = sampled(
        user,
        *("check", "--function", "slow", "--speedup", f"{before} 40000000", "--runs", "2"),
        # Chance alone is clear of noise now and then; so never.
        *("--confidence", "0.99999999", "--json", "-", "--", before, "40000000"),
    )
    (promise,) = told.document()["promises"]
    assert promise["verdict"] == "undecided"
    assert promise["ratio"]["unbounded"] in ("noise", "no-gain")


def test_python_is_timed_as_a_whole(user):
    source = "def slow(n):\n    for i in range(n):\n        i * i\nslow({})\n"
    (user.home / "before.py").write_text(source.format(5_000_000))
    (user.home / "after.py").write_text(source.format(3_000))
    told = user.types(
        *("profile", "check", "--function", "slow (before.py)", "--factor", "100"),
        *("--speedup", f"{sys.executable} -S after.py", "--profiler", "cprofile", "--runs", "2"),
        *("--json", "-", "--", sys.executable, "-S", "before.py"),
    )
    assert told.status == 0, told.err
    document = told.document()
    (promise,) = document["promises"]
    assert promise["rank"] == 1
    # It does all that Python does after its start, and that is not much.
    assert promise["share"]["estimate"] > 0.9
    assert document["gain"]["estimate"] > 0.6


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (("--speedup", "{after} 9"), "--function NAME, once", 2),
        (("--function", "slow", "--function", "rest", "--speedup", "{after} 9"), "once", 2),
        (("--function", "slow", "--speedup", "./none"), "There is no program './none'", 2),
        (("--function", "slow", "--speedup", ""), "--speedup wants the command", 2),
        (("--function", "slow", "--speedup", "'"), "--speedup cannot be read", 2),
        (("--function", "slow", "--speedup", "a", "--speedup", "b"), "--speedup wants", 2),
        (("--function", "slow", "--factor", "2"), "--factor goes with --speedup", 2),
        (("--function", "slow", "--speedup", "{after} 9", "--factor", "1"), "--factor", 2),
        (
            ("--function", "slow", "--speedup", "{after} 9", "--factor", "nan"),
            "nan is not a finite number",
            2,
        ),
        (
            ("--function", "slow", "--speedup", "{after} 9", "--factor", "inf"),
            "inf is not a finite number",
            2,
        ),
        (("--function", "slow", "--speedup", "{after} 9", "--amounts", "3"), "is of delays", 2),
        (("--function", "slow", "--speedup", "{after} 9", "--growth", "2"), "is of delays", 2),
        (
            ("--function", "slow", "--speedup", "{after} 9", "--speedup", "steelyard={after} 9"),
            "--command steelyard=CMD",
            2,
        ),
        (("--function", "nobody", "--speedup", "{after} 40000000"), "The hottest by", 2),
    ],
)
def test_what_cannot_be_compared_is_one_clear_error(user, builds, arguments, message, status):
    before, after = builds
    words = [word.format(after=after) for word in arguments]
    told = sampled(user, "check", *words, "--", before, "40000000", status=status)
    assert message in told.err


def test_a_mended_build_that_fails_is_named(user, builds, script):
    before, _ = builds
    flag = user.home / "ran"
    # Ends as it should when it is looked at first, and badly in its run.
    broken = script(f"test -e {flag} && {{ echo it broke >&2; exit 9; }}; touch {flag}; exit 3")
    words = ("--speedup", broken, "--factor", "2", "--", before, "40000000")
    told = sampled(user, "check", "--function", "slow", *words, status=3)
    assert f"A run of `{broken}` ended with status 9: it broke" in told.err


@pytest.mark.parametrize(
    ("body", "end"),
    [("exit 9", "ended with status 9"), ("kill -SEGV $$", "was ended by signal SIGSEGV")],
)
def test_a_mended_build_that_always_fails_gains_nothing(user, builds, script, body, end):
    before, _ = builds
    broken = script(f"echo it broke >&2; {body}")
    words = ("--speedup", broken, "--factor", "2", "--", before, "40000000")
    told = sampled(user, "check", "--function", "slow", *words, status=3)
    assert f"`{broken}` {end}: it broke. " in told.err
    assert told.err.count("\n") == 1
