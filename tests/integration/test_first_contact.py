"""What a new user meets: a live line, an answer on any terminal, and how to go on."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

from tests.patience import PATIENCE_S


def on_a_terminal(user, columns, *arguments):
    """What a command writes on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard.cli.main", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=user.home,
        env={**user.environment, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
    process.wait(timeout=PATIENCE_S)
    os.close(ours)
    return written.decode("utf-8", "replace")


def test_a_terminal_that_names_no_width_still_gets_the_answer(user):
    shown = on_a_terminal(user, 0, "measure", "--runs", "3", "--", "true")
    assert "spent" in shown
    assert "report: steelyard report" in " ".join(shown.split())


def test_the_live_line_has_the_mean_and_not_only_its_precision(user):
    shown = on_a_terminal(user, 100, "measure", "--runs", "16", "--", "sleep", "0.15")
    live = [part for part in shown.split("\x1b[2K") if "left" in part or "so far" in part]
    assert any("run " in part and "wall_time " in part and "±" in part for part in live), live


def test_a_long_first_run_shows_that_it_is_under_way(user):
    shown = on_a_terminal(user, 100, "measure", "--runs", "1", "--", "sleep", "2.6")
    assert "the first run is under way" in shown


def test_a_program_and_its_arguments_may_come_in_one_pair_of_quotes(user):
    told = user.types("measure", "--runs", "2", "--json", "-", "sh -c 'exit 0'")
    assert told.status == 0, told.err
    assert told.document()["variants"][0]["repetitions"]["execution"] == 2


def test_variables_before_a_program_are_set_for_it(user):
    told = user.types(
        *("compare", "--runs", "3", "--metric", "seen=regex:A=(.*):count", "--json", "-"),
        "A=1 env",
        "A=2 env",
    )
    assert told.status == 0, told.err
    assert told.document()["comparisons"][0]["ratio"]["estimate"] == 2


def test_a_budget_that_was_too_short_says_what_the_precision_takes_and_how(user):
    program = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; echo cost $((10 + n % 7))"
    metric = ("--metric", r"cost=regex:cost (\d+):count")
    told = user.types("measure", "--budget", "25runs", *metric, "--shell", program)
    assert told.status == 0, told.err
    line = next(line for line in told.out.splitlines() if line.startswith("for ± 1 %: about "))
    assert "more runs): steelyard resume 01" in line
    document = user.types("report", "--json", "-").document()
    assert document["further"]["precision"] == 0.01
    assert document["further"]["blocks"] > 100


def test_failures_are_told_in_words_with_how_often_each_came(user, script):
    path = script("n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $n -gt 1 ] || exit 139")
    told = user.types("measure", "--runs", "8", "--", path)
    assert told.status == 3
    assert "(2 x exit code 139: a shell's for SIGSEGV (signal 11))" in " ".join(told.out.split())
