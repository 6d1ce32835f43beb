"""`kill -9` of Steelyard and of its launcher, at random instants of a quiet comparison.

What must hold after each: no finished trial is lost, the store opens, `host restore` leaves every
knob as it was, and `resume` ends with the same number of trials.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from steelyard.host.knob import Request
from steelyard.host.properties import KNOBS
from steelyard.host.system import Host

KILLS = int(os.environ.get("STEELYARD_KILLS", "50"))
RUNS = 12
COMPARISON_S = 1.2
OWN_PROCESS = "own"
VOLATILE_KNOBS = {"drop-caches"}  # it has no state that could be read


def knob_states() -> dict[str, object]:
    """Every knob of this machine, as read."""
    host, request = Host(), Request()
    return {
        knob.name: knob.read(host, request)
        for knob in KNOBS
        if knob.name not in VOLATILE_KNOBS and knob.available(host, request) is None
    }


def assert_as_before(before: dict[str, object], after: dict[str, object]) -> None:
    """Every knob is as it was; of the processes, those that lived all the while."""
    assert _of_both(after, before) == _of_both(before, after)


def _of_both(state: object, other: object) -> object:
    """`state` without the processes (which knobs name by their numbers) that `other` lacks."""
    if not isinstance(state, dict) or not isinstance(other, dict):
        return state
    return {
        key: _of_both(value, other.get(key))
        for key, value in state.items()
        if key != OWN_PROCESS and (key in other or not key.isdigit())
    }


def launcher_of(pid: int) -> int | None:
    """The launcher that `pid` has started, if it has."""
    with contextlib.suppress(OSError, ValueError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if "launcher" in Path(f"/proc/{child}/comm").read_text():
                return int(child)
    return None


class Victim:
    """A quiet comparison whose programs note on a file of their own that they have ended."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home / "ended"
        self.program = home / "program"
        self.program.write_text(f"#!/bin/sh\nsleep 0.02\necho . >>{self.log}\n")
        self.program.chmod(0o755)
        self.environment = {
            **os.environ,
            "XDG_DATA_HOME": str(home / "data"),
            "STEELYARD_LOCK": str(home / "lock"),
        }

    def steelyard(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "steelyard.cli.main", *arguments]

    def start(self) -> subprocess.Popen[bytes]:
        commands = [str(self.program), f"{self.program} again"]
        options = ["--quiet", "--runs", str(RUNS), "--json", "/dev/null"]
        return subprocess.Popen(
            self.steelyard("compare", *options, *commands),
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )

    def asks(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            self.steelyard(*arguments, "--json", "-"),
            env=self.environment,
            stdout=subprocess.PIPE,
            timeout=120,
            check=True,
        )
        return json.loads(done.stdout)

    def ended_count(self) -> int:
        return self.log.read_text().count(".") if self.log.exists() else 0


def kill_at_a_random_instant(process: subprocess.Popen[bytes], draw: random.Random) -> None:
    """Kill Steelyard or its launcher, and wait until both are gone."""
    time.sleep(draw.uniform(0, COMPARISON_S))
    launcher = launcher_of(process.pid)
    target = draw.choice([process.pid, launcher or process.pid])
    with contextlib.suppress(ProcessLookupError):
        os.kill(target, signal.SIGKILL)
    process.wait(timeout=30)
    deadline_s = time.monotonic() + 10
    while launcher is not None and os.path.exists(f"/proc/{launcher}"):
        assert time.monotonic() < deadline_s, "the launcher outlives Steelyard"


@pytest.mark.parametrize("instant", range(KILLS))
def test_a_kill_loses_no_finished_trial_and_leaves_the_host_as_it_was(tmp_path, instant):
    draw = random.Random(instant)
    victim = Victim(tmp_path)
    before = knob_states()
    kill_at_a_random_instant(victim.start(), draw)
    ended = victim.ended_count()

    listed = victim.asks("list")["experiments"]
    subprocess.run(
        victim.steelyard("host", "restore"),
        env=victim.environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert_as_before(before, knob_states())
    if not listed:
        # Killed before the journal had its first line: nothing had been run.
        assert ended == 0
        return
    kept = victim.asks("show", "latest", "--trials")["trials"]
    # The last one to end may have been killed before the launcher could see it end.
    assert ended - 1 <= len(kept) <= ended
    victim.asks("resume", "latest")
    assert len(victim.asks("show", "latest", "--trials")["trials"]) == 2 * RUNS
    assert_as_before(before, knob_states())
