"""`kill -9` of Steelyard at a chosen trial: the program waits there to be killed, or halts it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.integration.conftest import User
from tests.patience import awaited


def waiting_in(trial: int) -> str:
    """Lines of a shell script that count its runs, and wait in the run of this number."""
    return (
        "echo . >> runs\n"
        f'if [ "$(wc -l < runs)" = {trial} ]; then touch waiting; exec sleep 1000; fi\n'
    )


def halting_in(trial: int) -> str:
    """Lines that count runs, and halt Steelyard in the run of this number, so that it ends untaken;
    for a program whose directory has Steelyard's process number in `steelyard.pid`."""
    return (
        "echo . >> runs\n"
        f'if [ "$(wc -l < runs)" = {trial} ]; then\n'
        "until [ -s steelyard.pid ]; do :; done; kill -STOP $(cat steelyard.pid)\n"
        "fi\n"
    )


def kill_while_waiting(user: User, process: subprocess.Popen[bytes]) -> None:
    """Kill Steelyard once the program waits, and see it end."""
    awaited((user.home / "waiting").exists, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def kill_while_halted(user: User, process: subprocess.Popen[bytes], trial: int) -> None:
    """Kill Steelyard once it is halted and the trial of this number has ended all the same."""
    (user.home / "steelyard.pid").write_text(str(process.pid))
    awaited(lambda: _is_halted(process.pid) and _recorded_trials(user) >= trial, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def _is_halted(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    return stat.rpartition(") ")[2].startswith("T")


def _recorded_trials(user: User) -> int:
    journals = user.home.glob("data/steelyard/*.journals/*.jsonl")
    lines = [line for journal in journals for line in journal.read_text().splitlines()]
    return sum(line.startswith('{"trial"') for line in lines)
