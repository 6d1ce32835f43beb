"""Event studies that are killed: what they have is kept, and nothing of them stays behind."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tests.integration.conftest import User
from tests.integration.event_studies import (
    METRIC,
    PROGRAM,
    left_by_the_dead,
    may_trace,
)
from tests.integration.killing import halting_in, kill_while_halted, kill_while_waiting, waiting_in
from tests.needs import needs_x86_64


@pytest.mark.parametrize("trial", [1, 6, 12])
def test_a_killed_study_goes_on_with_its_events(
    user: User, script: Callable[[str], str], trial: int
) -> None:
    program = script(waiting_in(trial) + PROGRAM)
    log = ("--log", "log=step (\\w)")
    process = user.start("experiment", "events", *METRIC, "--runs", "6", *log, "--", program)
    kill_while_waiting(user, process)
    kept = user.types("show", "latest", "--trials", "--json", "-").document()["trials"]
    assert [one["status"] for one in kept] == ["ok"] * (trial - 1)
    resumed = user.types("experiment", "resume", "latest")
    assert resumed.status == 0, resumed.err
    assert "experiment events --experiment" in resumed.err
    told = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert len(told["runs"]) == 6
    assert told["kinds"][0]["counts"] == [run["value"] for run in told["runs"]]


@pytest.mark.parametrize("file", ["log", "-"])
def test_events_that_a_killed_study_had_not_taken_yet_are_kept(
    user: User, script: Callable[[str], str], file: str
) -> None:
    written = "log" if file == "log" else "/dev/stdout"
    program = script(halting_in(3) + f"echo step a > {written}")
    log = ("--log", f"{file}=step (\\w)")
    # With this seed the third trial is one whose events are recorded.
    process = user.start("experiment", "events", "--runs", "4", "--seed", "1", *log, "--", program)
    kill_while_halted(user, process, 3)
    kept = user.types("show", "latest", "--trials", "--json", "-").document()["trials"]
    assert kept[2]["variant"].endswith("(events=on)")
    told = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert told["kinds"][0]["counts"] == [1] * len(told["runs"])
    assert user.types("experiment", "resume", "latest").status == 0
    told = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert told["kinds"][0]["counts"] == [1] * 4


@may_trace
def test_a_killed_recording_leaves_no_tracing_behind_that_a_resumed_one_does_not_take_away(
    user: User, script: Callable[[str], str]
) -> None:
    program = script(waiting_in(4) + "true")
    process = user.start(
        "experiment", "events", "--runs", "4", "--record", "syscalls,sched", "--", program
    )
    kill_while_waiting(user, process)
    assert left_by_the_dead() != []
    assert user.types("experiment", "resume", "latest").status == 0
    assert left_by_the_dead() == []
    told = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert len(told["runs"]) == 4
    assert all(sum(kind["counts"]) for kind in told["kinds"])


@may_trace
@needs_x86_64
def test_a_killed_study_with_stacks_leaves_no_recorder_and_goes_on(
    user: User, script: Callable[[str], str]
) -> None:
    program = script(waiting_in(4) + "true")
    process = user.start(
        "experiment", "events", "--runs", "4", "--record", "threads", "--stacks", "--", program
    )
    kill_while_waiting(user, process)
    assert user.types("experiment", "resume", "latest").status == 0
    told = user.types("experiment", "events", "--experiment", "latest", "--json", "-").document()
    assert len(told["runs"]) == 4
    left = subprocess.run(
        ["pgrep", "-f", f"event-recorder --output {user.home}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert left.stdout == ""
