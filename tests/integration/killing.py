"""`kill -9` of Steelyard at a chosen trial: the program waits there to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from tests.integration.conftest import User

_PATIENCE_S = 900


def waiting_in(trial: int) -> str:
    """Lines of a shell script that count its runs, and wait in the run of this number."""
    return (
        "echo . >> runs\n"
        f'if [ "$(wc -l < runs)" = {trial} ]; then touch waiting; exec sleep 1000; fi\n'
    )


def lagging_from(trial: int) -> str:
    """Lines that halt Steelyard in the run of this number, so that trials end untaken; for a
    program whose directory has its process number in `steelyard.pid`."""
    return (
        f'if [ "$(wc -l < runs)" = {trial} ]; then\n'
        "until [ -s steelyard.pid ]; do :; done; kill -STOP $(cat steelyard.pid)\n"
        "fi\n"
    )


def kill_while_waiting(user: User, process: subprocess.Popen[bytes]) -> None:
    """Kill Steelyard once the program waits, and see it end."""
    deadline_s = time.monotonic() + _PATIENCE_S
    while not (user.home / "waiting").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
