"""Recordings that end before the program does: it goes on, is waited for, and all of it is told."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import User
from tests.integration.profiling import sampled
from tests.patience import line_of, said_by

# It computes until it is let go, and then says that it came to its end.
PROGRAM = """
import os, sys
print(os.getpid(), flush=True)
while not os.path.exists("go"):
    pass
open("ended", "w").close()
sys.exit(5)
"""
COUNTING = (sys.executable, "-c", "sum(i * i for i in range(2_000_000))")
SMALL_BYTES = 32 << 10
FAILED = 3


@pytest.fixture
def program(user: User) -> Iterator[tuple[str, ...]]:
    """The words of the program; skips where the machine gives no samples."""
    sampled(user, "record", "-o", "tried", "--", *COUNTING)
    (user.home / "program.py").write_text(PROGRAM)
    yield (sys.executable, "program.py")
    (user.home / "go").touch()


def sampler_of(recording: subprocess.Popen[bytes]) -> int:
    """The sampler that a command has started."""
    (sampler,) = Path(f"/proc/{recording.pid}/task/{recording.pid}/children").read_text().split()
    return int(sampler)


def small_files() -> None:
    """What a full disk does, without one: no file grows beyond this."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_BYTES, SMALL_BYTES))


def kill_sampler(recording: subprocess.Popen[bytes]) -> None:
    line_of(recording)
    os.kill(sampler_of(recording), signal.SIGKILL)


@pytest.mark.usefixtures("unmeasured")
def test_a_program_is_waited_for_when_its_profile_takes_no_more(
    user: User, program: tuple[str, ...]
) -> None:
    words = ("profile", "record", "--period", "50us", "--", *program)
    recording = user.start(*words, preexec_fn=small_files)
    told = line_of(recording, "stderr").decode()
    assert "takes no more: File too large. The program goes on" in told
    assert recording.poll() is None
    assert not (user.home / "ended").exists()
    (user.home / "go").touch()
    _, rest = said_by(recording)
    assert (user.home / "ended").exists()
    assert recording.returncode == FAILED
    assert "The program ended with status 5." in rest.decode()
    assert "Traceback" not in rest.decode()


def test_a_program_is_waited_for_when_its_sampler_is_killed(
    user: User, program: tuple[str, ...]
) -> None:
    recording = user.start("profile", "record", "--", *program)
    kill_sampler(recording)
    told = line_of(recording, "stderr").decode()
    assert "The sampler was ended by SIGKILL. The program goes on" in told
    assert recording.poll() is None
    (user.home / "go").touch()
    _, rest = said_by(recording)
    assert (user.home / "ended").exists()
    assert recording.returncode == FAILED
    assert "The program has ended since" in rest.decode()


def test_a_program_whose_sampler_was_killed_is_told_to_end(
    user: User, program: tuple[str, ...]
) -> None:
    recording = user.start("profile", "record", "--", *program)
    kill_sampler(recording)
    line_of(recording, "stderr")
    recording.terminate()
    _, rest = said_by(recording)
    assert recording.returncode == FAILED
    assert "The program has ended since" in rest.decode()
    assert not (user.home / "ended").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("./steelyard.toml", "may not be executed. If it is a program: chmod +x ./steelyard.toml"),
        ("/", "is a directory"),
        ("./none", "There is no program './none'."),
        ("none-of-that-name", "in the PATH."),
        ("built", "The one in this folder is ./built."),
    ],
)
@pytest.mark.parametrize("command", [("record",), ("agree", "--runs", "1"), ("check",)])
def test_a_program_that_cannot_be_run_is_told_of_with_the_reason(
    user: User, command: tuple[str, ...], name: str, reason: str
) -> None:
    (user.home / "steelyard.toml").touch()
    (user.home / "built").touch(mode=0o755)
    told = user.types("profile", *command, "--", name)
    assert told.status == 2
    assert reason in told.err
    assert "Traceback" not in told.err
