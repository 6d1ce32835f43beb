"""What a fault has left: trials lost or doubled, processes running, a host that is changed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.kills.kill_evidence import differences, other_sessions
from steelyard.cli.main import run
from steelyard.host.knob import Request
from steelyard.host.properties import KNOBS
from steelyard.host.session import is_session_alive
from steelyard.host.system import Host

MARK = "STEELYARD_KILLS_MARK"
PATIENCE_S = 120.0
# Of root's sessions, whatever journal they have, there is one at a time.
_JOURNAL = "/nonexistent/steelyard-kills"
_ANOTHER = b"Another quiet session"
LIST = ["list", "--json", "-"]
SHOW = ["show", "latest", "--trials", "--json", "-"]
RESUME = ["experiment", "resume", "latest", "--json", "/dev/null"]
RESTORE = ["host", "restore"]
# Knobs whose state is no setting, and processes, which come and go by themselves.
_VOLATILE_KNOBS = ("drop-caches",)
_VOLATILE = ("own", "tasks")


@dataclass(frozen=True)
class Aftermath:
    """What was found after one fault: counts, and what else went wrong in words."""

    lost: int = 0
    doubled: int = 0
    running: int = 0
    changed: int = 0
    said: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether nothing was."""
        return self == Aftermath()


def warm_up() -> None:
    """Import, by using them once, what the commands that look at a store need."""
    program = os.path.realpath("/bin/true")
    commands = (
        ["compare", "--runs", "2", program, f"{program} again"],
        *(LIST, SHOW, RESUME, RESTORE),
    )
    known = dict(os.environ)
    with tempfile.TemporaryDirectory() as home, open(os.devnull, "w") as nowhere:
        places = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
        os.environ.update(dict.fromkeys(places, home), STEELYARD_LOCK=os.path.join(home, "lock"))
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            for arguments in commands:
                run(list(arguments))
        os.environ.clear()
        os.environ.update(known)


def asks(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """One command of Steelyard, to its end.

    It runs in a fork of this process, which has imported the modules: looking at what a kill has
    left takes most of the time of a run of a thousand otherwise. What is killed is started afresh.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = os.fork()
        if process == 0:
            _be_the_command(arguments, environment, output.fileno(), errors.fileno())
        deadline_s = time.monotonic() + PATIENCE_S
        ended, status = 0, 0
        while not ended and time.monotonic() < deadline_s:
            ended, status = os.waitpid(process, os.WNOHANG)
            time.sleep(0.0 if ended else 0.01)
        if not ended:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise subprocess.TimeoutExpired(arguments, PATIENCE_S)
        for file in (output, errors):
            file.seek(0)
        return subprocess.CompletedProcess(
            arguments, os.waitstatus_to_exitcode(status), output.read(), errors.read()
        )


def _be_the_command(
    arguments: list[str], environment: dict[str, str], output: int, errors: int
) -> NoReturn:
    status = 99
    try:
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.environ.clear()
        os.environ.update(environment)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        status = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def settled_state() -> dict[str, Any]:
    """The state of the host while no quiet session changes it: what somebody else's session has
    changed is put back when that ends, and would be taken for the state before a kill or after it.

    Raises
    ------
    TimeoutError
        There was a session at all times for `PATIENCE_S`.
    """
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        if not is_session_alive(_JOURNAL, Host()):
            state = host_state()
            if not is_session_alive(_JOURNAL, Host()):
                return state
        time.sleep(0.05)
    raise TimeoutError(f"quiet sessions of others did not end for {PATIENCE_S:.0f} s")


def host_state() -> dict[str, Any]:
    """Every knob of this machine that can be set, mounts and tracing, without processes."""
    host, request = Host(), Request()
    state: dict[str, Any] = {}
    for knob in KNOBS:
        if knob.name not in _VOLATILE_KNOBS and knob.available(host, request) is None:
            read = knob.read(host, request)
            if isinstance(read, dict):
                read = {name: value for name, value in read.items() if name not in _VOLATILE}
            state[knob.name] = read
    mounts = (host.read("/proc/self/mountinfo") or "").splitlines()
    state["mounts"] = sorted(line.split()[4] for line in mounts if "/steelyard-" in line)
    tracing = host.names("/sys/kernel/tracing/instances")
    state["tracing"] = [name for name in tracing if "steelyard" in name]
    return state


def left_running(mark: str) -> list[int]:
    """Processes with this mark in their environment, once they have had time to end."""
    wanted = f"{MARK}={mark}".encode()
    deadline_s = time.monotonic() + 10.0
    while True:
        found: list[int] = []
        for entry in os.listdir("/proc"):
            try:
                environment = (
                    Path(f"/proc/{entry}/environ").read_bytes() if entry.isdigit() else b""
                )
            except OSError:
                continue
            if wanted in environment.split(b"\0"):
                found.append(int(entry))
        if not found or time.monotonic() > deadline_s:
            return found
        time.sleep(0.1)


def trials_kept(environment: dict[str, str]) -> list[dict[str, Any]] | None:
    """The trials of the only experiment; None where there is none."""
    listed = asks(LIST, environment)
    if not json.loads(listed.stdout)["experiments"]:
        return None
    shown = asks(SHOW, environment)
    return json.loads(shown.stdout)["trials"]


def aftermath(
    environment: dict[str, str], log: Path, wanted_trials: int, before: dict[str, Any]
) -> Aftermath:
    """Look at everything, resume, and look again."""
    running = left_running(environment[MARK])
    for process in running:
        os.kill(process, 9)
    restored = _asks_alone(RESTORE, environment)
    said = "" if restored.returncode == 0 else f"host restore: {restored.stderr.decode()[-200:]}"
    lost = doubled = 0
    if wanted_trials:
        lost, doubled, more = _of_trials(environment, log, wanted_trials)
        said += more
    changed = _left_changed(before)
    if changed:
        said += f" changed: {'; '.join(changed.values())}"
        others = other_sessions(f"{MARK}={environment[MARK]}".encode())
        said += f" (others at work: {'; '.join(others) or 'none'})"
    return Aftermath(lost, doubled, len(running), len(changed), said.strip())


def _left_changed(before: dict[str, Any]) -> dict[str, str]:
    """What is not as it was, and how, once others who use the machine have had time to put theirs
    back."""
    deadline_s = time.monotonic() + 10.0
    while True:
        after = settled_state()
        changed = {
            name: ", ".join(differences(before[name], after.get(name), name))
            for name in before
            if before[name] != after.get(name)
        }
        if not changed or time.monotonic() > deadline_s:
            return changed
        time.sleep(0.1)


def _asks_alone(
    arguments: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """A command that changes or restores the host, when sessions of others are over."""
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        told = asks(arguments, environment)
        if _ANOTHER not in told.stderr or time.monotonic() > deadline_s:
            return told
        time.sleep(0.5)


def _of_trials(environment: dict[str, str], log: Path, wanted: int) -> tuple[int, int, str]:
    ended = log.read_text().count(".") if log.exists() else 0
    kept = trials_kept(environment)
    if kept is None:
        return (ended, 0, "") if ended > 1 else (0, 0, "")
    positions = [trial["position"] for trial in kept]
    doubled = len(positions) - len(set(positions)) + max(0, len(kept) - ended)
    # The last one to end may have been ended before the launcher could see it.
    lost = max(0, ended - 1 - len(kept))
    resumed = _asks_alone(RESUME, environment)
    whole = trials_kept(environment) or []
    said = ""
    if resumed.returncode != 0 and len(whole) < wanted:
        said = f" resume: {resumed.stderr.decode()[-200:]}"
    return lost, doubled, said
