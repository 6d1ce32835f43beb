"""What the launcher makes of programs, machines and masters that misbehave."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.core import interruption
from steelyard.core.errors import LauncherDiedError
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.measure import launcher_process
from steelyard.measure.launcher import Launcher
from tests.launching import (
    command,
    ends,
    fifo,
    launcher,
    read_pid,
    run,
    sh,
    timed_out,
)
from tests.needs import needed
from tests.patience import PATIENCE_S


def test_a_program_that_stops_the_launcher_ends_it_and_earlier_trials_are_kept(
    tmp_path: Path,
) -> None:
    good, hostile = sh("true"), sh("kill -STOP $PPID; exec sleep 1000")
    with launcher(tmp_path, [good, hostile]) as running:
        for position, variant in enumerate((0, 0, 1)):
            running.queue(position, 0, variant)
        with pytest.raises(LauncherDiedError, match="was stopped"):
            while True:
                running.records()
    assert len((tmp_path / "journal").read_text().splitlines()) == 2


@pytest.fixture
def _interruptions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What Ctrl-C does on the command line; what Python drops is not told of."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    yield
    signal.signal(signal.SIGINT, before)
    interruption.heard()


class InterruptsWhenItGoes:
    """Its destructor is where the interruption comes, and where Python drops the exception."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("_interruptions")
def test_an_interruption_that_python_dropped_is_heard_by_who_waits(tmp_path: Path) -> None:
    with launcher(tmp_path, [sh("exec sleep 1000")]) as running:
        running.queue(0, 0, 0)
        InterruptsWhenItGoes()
        with pytest.raises(KeyboardInterrupt):
            running.records(timeout_s=PATIENCE_S)
        # Once is enough.
        assert running.abort() == []
        interruption.raise_unheard()


def test_a_launcher_that_is_stopped_can_be_ended(tmp_path: Path) -> None:
    mark = fifo(tmp_path / "pid")
    with launcher(tmp_path, [sh(f"kill -STOP $PPID; echo $$ > {mark}; exec sleep 1000")]) as it:
        it.queue(0, 0, 0)
        it.records(timeout_s=0)
        program = read_pid(mark)
        assert it.abort() == []
        assert ends(program)


def test_a_launcher_that_does_not_end_when_asked_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["steelyard.measure.launcher"], "ENDING_S", 0.0)
    with launcher(tmp_path, [sh("exec sleep 1000")]) as it:
        it.queue(0, 0, 0)
        os.kill(it.pid, signal.SIGSTOP)
        monkeypatch.setattr(launcher_process, "is_stopped", lambda _: False)
        assert it.abort() == []


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (record,) = run(tmp_path, sh("exec sleep 1000", timeout_s=0.05))
    assert (record["status"], record["reason"], record["signal"]) == ("failed", "timeout", 15)


def test_a_program_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap '' TERM; : > {ready}; while :; do sleep 1000; done"
    record = timed_out(tmp_path, script, ready=ready)
    assert (record["reason"], record["signal"]) == ("timeout", 9)


def test_a_program_that_ends_well_when_asked_has_still_timed_out(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    script = f"trap 'kill $!; : > {asked}; exit 0' TERM; sleep 1000 & wait"
    record = timed_out(tmp_path, script, ready=asked)
    assert (record["reason"], record["exit_code"]) == ("timeout", 0)


def test_a_timeout_ends_the_children_of_the_program_too(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = f"sh -c 'echo $$ > {child}.part; mv {child}.part {child}; exec sleep 1000'; true"
    record = timed_out(tmp_path, script, ready=child)
    assert record["reason"] == "timeout"
    assert ends(read_pid(child))


def test_a_generous_timeout_does_no_harm(tmp_path: Path) -> None:
    (record,) = run(tmp_path, command("true", timeout_s=1000.0))
    assert record["status"] == "ok"


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_flood_of_output_is_dammed(tmp_path: Path, stream: str) -> None:
    options: dict[str, Any] = {"keep_output": True, "output_cap_bytes": 1 << 20}
    flood, after = run(tmp_path, sh(f"exec yes >&{stream}"), command("true"), **options)
    assert (flood["reason"], flood["signal"]) == ("output", 9)
    assert after["status"] == "ok"
    assert os.path.getsize(tmp_path / "stderr") == 0


# The daemon says where it is before the program that started it goes on to its end.
DAEMON = 'mkfifo ready; %s sh -c "%s" & cat ready > daemon; rm ready'


def test_a_daemon_is_ended_before_the_next_trial(tmp_path: Path) -> None:
    forked = r"sh -c 'echo \$\$ > ready; exec sleep 1000' & exit"
    script = DAEMON % (needed("setsid"), forked)
    first, second = run(tmp_path, sh(script, working_directory=str(tmp_path)), command("true"))
    assert (first["status"], first["leftover_processes"]) == ("ok", 1)
    assert (second["status"], second["leftover_processes"]) == ("ok", 0)
    assert ends(int((tmp_path / "daemon").read_text()))


def test_a_daemon_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    stubborn = r"trap '' TERM; echo \$\$ > ready; while :; do sleep 1000; done"
    script = DAEMON % (needed("setsid"), stubborn)
    (record,) = run(tmp_path, sh(script, working_directory=str(tmp_path)))
    assert record["leftover_processes"] >= 1
    assert ends(int((tmp_path / "daemon").read_text()))


def test_a_server_of_the_preparation_lives_until_the_clean_up(tmp_path: Path) -> None:
    prepare = "sleep 1000 > /dev/null & echo $! > server"
    variant = Variant(
        "client",
        LaunchSpec(
            ("sh", "-c", "kill -0 $(cat server) && (sleep 1000 &)"),
            working_directory=str(tmp_path),
        ),
        prepare=("sh", "-c", prepare),
        cleanup=("sh", "-c", "kill -0 $(cat server) && cp server served"),
    )
    (record,) = run(tmp_path, variant)
    assert (record["status"], record["leftover_processes"]) == ("ok", 1)
    assert ends(int((tmp_path / "served").read_text()))


def test_a_failing_preparation_fails_the_trial_and_the_program_is_not_run(tmp_path: Path) -> None:
    launch = LaunchSpec(("touch", "ran"), working_directory=str(tmp_path))
    prepare = ("sh", "-c", "echo not today >&2; exit 3")
    (record,) = run(tmp_path, Variant("a", launch, prepare=prepare, cleanup=("touch", "cleaned")))
    assert (record["status"], record["reason"]) == ("failed", "prepare")
    assert record["wall_ns"] is None
    assert "exited with 3" in record["error"]
    assert record["stderr_tail"] == "not today\n"
    assert not (tmp_path / "ran").exists()
    assert (tmp_path / "cleaned").exists()


def test_a_failing_clean_up_fails_the_trial(tmp_path: Path) -> None:
    (record,) = run(tmp_path, Variant("a", LaunchSpec(("true",)), cleanup=("false",)))
    assert (record["status"], record["reason"], record["exit_code"]) == ("failed", "cleanup", 0)


def test_a_program_that_vanishes_midway_fails_its_further_trials(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nrm "$0"\n')
    program.chmod(0o755)
    with launcher(tmp_path, [command(str(program))]) as running:
        running.queue(0, 0, 0)
        running.queue(1, 1, 0)
        first, second = running.finish()
    assert first["status"] == "ok"
    assert (second["status"], second["reason"]) == ("failed", "spawn")
    assert "No such file or directory" in second["error"]
    assert second["wall_ns"] is None


def test_a_script_without_a_first_line_is_told_what_it_lacks(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("echo hello\n")
    program.chmod(0o755)
    (record,) = run(tmp_path, command(str(program)))
    assert record["reason"] == "spawn"
    assert "#!/bin/sh" in record["error"]


def test_a_missing_input_or_directory_fails_the_trial(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    records = run(
        tmp_path,
        Variant("a", LaunchSpec(("/bin/true",), stdin_file=absent)),
        Variant("b", LaunchSpec(("/bin/true",), working_directory=absent)),
    )
    assert [record["reason"] for record in records] == ["spawn", "spawn"]
    assert all("No such file or directory" in record["error"] for record in records)


def test_arguments_of_100_kilobytes_pass(tmp_path: Path) -> None:
    argument = "x" * 100_000
    (record,) = run(
        tmp_path, command("sh", "-c", 'printf %s "$1" | wc -c', "sh", argument), keep_output=True
    )
    assert int(Path(record["output"]).read_text()) == 100_000


def test_too_many_arguments_are_a_clean_failure(tmp_path: Path) -> None:
    records = run(tmp_path, command("true", "x" * 200_000), command("true"))
    assert records[0]["reason"] == "spawn"
    assert "Argument list too long" in records[0]["error"]
    assert records[1]["status"] == "ok"


def test_killing_the_launcher_ends_the_program_and_keeps_what_had_ended(tmp_path: Path) -> None:
    meeting = fifo(tmp_path / "meeting")
    script = f"sh -c 'echo $$ > {meeting}; exec sleep 1000' & wait"
    with launcher(tmp_path, [command("true"), sh(script)]) as running:
        running.queue(0, 0, 0)
        running.queue(1, 0, 1)
        running.records(0)
        grandchild = read_pid(meeting)
        os.kill(running.pid, signal.SIGKILL)
        with pytest.raises(LauncherDiedError, match="SIGKILL"):
            running.finish(PATIENCE_S)
    assert ends(grandchild)
    lines = (tmp_path / "journal").read_text().splitlines()
    assert [json.loads(line)["trial"] for line in lines] == [0]


def test_an_aborted_trial_leaves_no_record_and_no_process(tmp_path: Path) -> None:
    meeting = fifo(tmp_path / "meeting")
    with launcher(tmp_path, [sh(f"echo $$ > {meeting}; exec sleep 1000")]) as running:
        running.queue(0, 0, 0)
        running.queue(1, 1, 0)
        running.records(0)
        program = read_pid(meeting)
        assert running.abort() == []
        assert running.abort() == []
    assert ends(program)
    assert (tmp_path / "journal").read_bytes() == b""


MASTER = """
import sys
from pathlib import Path
from steelyard.measure import launcher_process
from steelyard.measure.launcher import Launcher
from tests.launching import launcher, sh, command
directory, meeting = Path(sys.argv[1]), sys.argv[2]
with launcher(directory, [command("true"), sh(f"echo $$ > {meeting}; exec sleep 1000")]) as running:
    running.queue(0, 0, 0)
    running.queue(1, 0, 1)
    running.queue(2, 0, 0)
    running.records()
    (directory / "partial").write_text(str(running.pid))
    (directory / "partial").rename(directory / "launcher")
    running.records()
"""


@pytest.fixture
def master(tmp_path: Path) -> Iterator[tuple[int, int, int]]:
    """A master that waits for its second trial, its launcher, and the program that runs."""
    meeting = fifo(tmp_path / "meeting")
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'src'}"}
    arguments = [sys.executable, "-c", MASTER, str(tmp_path), str(meeting)]
    pid = os.posix_spawn(sys.executable, arguments, environment)
    program = read_pid(meeting)
    while not (tmp_path / "launcher").exists():
        os.sched_yield()
    yield pid, int((tmp_path / "launcher").read_text()), program
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def committed(tmp_path: Path) -> list[int]:
    return [json.loads(line)["trial"] for line in (tmp_path / "journal").read_text().splitlines()]


def test_killing_the_master_ends_the_launcher_and_the_program_without_a_record(
    tmp_path: Path, master: tuple[int, int, int]
) -> None:
    pid, launcher_pid, program = master
    os.kill(pid, signal.SIGKILL)
    assert ends(launcher_pid)
    assert ends(program)
    assert committed(tmp_path) == [0]


def test_the_program_dies_with_a_killed_launcher_even_if_the_master_sleeps(
    tmp_path: Path, master: tuple[int, int, int]
) -> None:
    pid, launcher_pid, program = master
    os.kill(pid, signal.SIGSTOP)
    os.kill(launcher_pid, signal.SIGKILL)
    assert ends(program)
    assert committed(tmp_path) == [0]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    (tmp_path / "journal").symlink_to("/dev/full")
    with pytest.raises(LauncherDiedError, match="No space left on device"):
        run(tmp_path, command("true"))


def test_a_record_that_does_not_fit_is_taken_back(tmp_path: Path) -> None:
    limit_bytes = 10_000
    with launcher(tmp_path, [command("true")]) as running:
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        for position in range(100):
            running.queue(position, position, 0)
        with pytest.raises(LauncherDiedError, match="journal cannot be written"):
            running.finish()
    data = (tmp_path / "journal").read_bytes()
    assert data.endswith(b"}\n")
    assert limit_bytes - 1000 < len(data) <= limit_bytes
    assert [json.loads(line)["trial"] for line in data.splitlines()] == list(
        range(data.count(b"\n"))
    )


def test_a_work_directory_that_is_gone_is_reported(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.touch()
    with (
        Launcher(str(journal), str(tmp_path / "absent"), [], ()) as running,
        pytest.raises(LauncherDiedError, match="No such file or directory"),
    ):
        running.finish()
