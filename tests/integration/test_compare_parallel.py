"""Programs of a block that run at the same time, each on CPUs of its own."""

from __future__ import annotations

import os

import pytest

from tests.integration.killing import kill_while_waiting, waiting_in

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="the order parallel takes a CPU for each program"
)
PARALLEL = ("compare", "--order", "parallel", "--json", "-")
CPUS = "grep Cpus_allowed_list /proc/self/status >> {0}.cpus\n"


def counts(document):
    return [variant["repetitions"]["execution"] for variant in document["variants"]]


def test_programs_that_wait_for_each_other_both_come_to_their_ends(user, script):
    meet = "n=$(wc -l < {0}); echo . >> {0}; until [ $(wc -l < {1}) -gt $n ]; do :; done"
    for name in ("one", "two"):
        (user.home / name).write_text("")
    commands = [
        script(CPUS.format(a) + meet.format(a, b), f"{a}.sh")
        for a, b in (("one", "two"), ("two", "one"))
    ]
    told = user.types(*PARALLEL, "--runs", "8", "--warmup", "1", *commands)
    assert told.status == 0, told.err
    assert told.document()["order"] == "parallel"
    one, two = [(user.home / f"{name}.cpus").read_text().split("\n") for name in ("one", "two")]
    assert len(one) == len(two) == 10
    assert all(left != right for left, right in zip(one[:-1], two[:-1], strict=True))
    # Where a program runs is drawn: of nine blocks, all alike once in 256.
    assert len(set(one[:-1])) > 1 or len(one) < 9


def test_what_a_killed_session_had_of_whole_blocks_is_kept_and_gone_on_with(user, script):
    program = script(waiting_in(9) + "exit 0")
    process = user.start(*PARALLEL, "--runs", "12", "--seed", "1", program, "true")
    kill_while_waiting(user, process)
    told = user.types("resume", "latest", "--json", "-")
    assert told.status == 0, told.err
    # The block that was under way ran in part alone; it is not made up for.
    blocks = told.document()["comparisons"][0]["ratio"]
    # Of values that depend on each other, as on a busy machine, the method is of another name.
    assert "unpaired" not in blocks["method"]
    assert 11 <= min(counts(told.document())) <= max(counts(told.document())) <= 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("measure", "--order", "parallel", "--", "true"), "two programs or more"),
        (("compare", "--order", "parallel", "--prepare", "true", "true", "true"), "--prepare"),
        (("compare", "--order", "parallel", "--cpus", "0", "true", "true"), "a CPU for each"),
        (
            (
                *("compare", "--order", "parallel", "--level", "day", "--repeat", "day=2"),
                *("--repeat", "execution=3", "true", "true"),
            ),
            "levels of repetition",
        ),
        (("history", "check", "--parallel"), "--parallel goes with --run only"),
    ],
)
def test_what_cannot_run_at_the_same_time_is_one_clear_error(user, words, message):
    told = user.types(*words)
    assert told.status in (2, 4)
    assert message in told.err
    assert "Traceback" not in told.err
    assert user.types("list").out.count("unfinished") == 0
