"""The lock that keeps two measurements on one machine apart."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys

import pytest

from steelyard.core.errors import BusyError, HostError
from steelyard.host import lock
from steelyard.host.lock import lock_path, machine_lock

HOLD = """
import sys, time
from steelyard.host.lock import machine_lock
with machine_lock("compare 01J", path=sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "machine.lock")


@pytest.fixture
def holder(path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_measurement_is_refused_and_told_who_holds_the_machine(holder, path):
    with pytest.raises(BusyError) as caught, machine_lock("measure", path=path):
        pass
    assert f"process {holder.pid}" in caught.value.message
    assert "compare 01J" in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        b"1 1700000000 \x1b]0;title\x07\x1b[2Jsudo rm\n",
        b"\xff\xfe not a text",
        b"99999999999999999999 1 x",
        b"",
    ],
)
def test_what_others_write_into_the_lock_file_is_not_believed(holder, path, text):
    with open(path, "r+b") as file:
        file.truncate(0)
        file.write(text)
    with pytest.raises(BusyError) as caught, machine_lock("measure", path=path):
        pass
    assert f"already: process {holder.pid}. " in caught.value.message


def test_escapes_in_the_text_of_the_holder_are_not_printed(holder, path):
    with open(path, "r+b") as file:
        file.write(f"{holder.pid} {'9' * 400} \x1b[2J".encode())
        file.seek(0)
        file.write(f"{holder.pid} 1700000000 a\x1b[2J\u202eb\n".encode())
    with pytest.raises(BusyError) as caught, machine_lock("measure", path=path):
        pass
    assert caught.value.message.isprintable()
    assert f"process {holder.pid}, a2Jb" in caught.value.message


def test_waiting_names_the_holder_and_ends_with_it(holder, path):
    told: list[str] = []

    def on_wait(message: str) -> None:
        told.append(message)
        holder.kill()

    with machine_lock("measure", wait=True, on_wait=on_wait, path=path):
        assert len(told) == 1
        assert str(holder.pid) in told[0]


def test_nobody_is_refused_for_what_holds_the_machine_for_a_moment(path, monkeypatch):
    looks: list[float] = []
    brief = machine_lock(lock.BRIEF_PURPOSE, path=path)

    def looked(pause_s: float) -> None:
        looks.append(pause_s)
        if len(looks) == 3:
            brief.__exit__(None, None, None)

    monkeypatch.setattr(lock.time, "sleep", looked)
    brief.__enter__()
    with machine_lock("measure", path=path):
        assert len(looks) == 3


def test_what_holds_the_machine_for_a_moment_for_ever_is_named(path, monkeypatch):
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(lock.time, "sleep", lambda _pause_s: None)
    monkeypatch.setattr(lock.time, "monotonic", lambda: next(clock))
    with (
        machine_lock(lock.BRIEF_PURPOSE, path=path),
        pytest.raises(BusyError, match="reference benchmark"),
        machine_lock("measure", path=path),
    ):
        pass


def test_a_killed_holder_leaves_the_machine_free(holder, path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with machine_lock("measure", path=path):
        pass


def test_the_lock_can_be_taken_again_after_its_end(path):
    for _ in range(2):
        with machine_lock("measure", path=path):
            pass


def test_every_user_may_use_the_lock_file(path):
    umask = os.umask(0o077)
    try:
        with machine_lock("measure", path=path):
            assert os.stat(path).st_mode & 0o777 == 0o666
    finally:
        os.umask(umask)


def test_a_child_does_not_keep_the_lock(path):
    with machine_lock("measure", path=path):
        child = subprocess.Popen(["sleep", "60"])
    try:
        with machine_lock("measure", path=path):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path, path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.symlink(victim, path)
    with pytest.raises(HostError, match="cannot be opened"), machine_lock("measure", path=path):
        pass
    assert victim.read_text() == "precious"


def test_a_second_name_of_another_file_is_not_written_to(tmp_path, path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.link(victim, path)
    with pytest.raises(HostError, match="not a plain file"), machine_lock("measure", path=path):
        pass
    assert victim.read_text() == "precious"


def test_a_folder_in_the_place_of_the_lock_is_an_error_with_advice(path):
    os.mkdir(path)
    with pytest.raises(HostError, match="STEELYARD_LOCK"), machine_lock("measure", path=path):
        pass


def test_a_holder_that_left_no_name_is_still_a_holder(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with (
            pytest.raises(BusyError, match="process"),
            machine_lock("measure", path=path),
        ):
            pass
    finally:
        os.close(fd)


def test_the_environment_can_name_the_lock_file(monkeypatch):
    monkeypatch.setenv("STEELYARD_LOCK", "/somewhere/lock")
    assert lock_path() == "/somewhere/lock"
    monkeypatch.delenv("STEELYARD_LOCK")
    assert lock_path() in ("/run/lock/steelyard.lock", "/tmp/steelyard.lock")
