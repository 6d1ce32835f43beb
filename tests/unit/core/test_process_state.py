"""What is said of processes that run, are stopped, have ended and are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from steelyard.core.process_state import has_ended, is_stopped


def test_a_process_that_runs_has_not_ended_and_is_not_stopped() -> None:
    assert not has_ended(os.getpid())
    assert not is_stopped(os.getpid())


def test_a_dead_process_has_ended_before_it_is_waited_for_and_after() -> None:
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
    assert has_ended(dead)
    assert not is_stopped(dead)
    os.waitpid(dead, 0)
    assert has_ended(dead)


def test_a_process_whose_first_thread_has_ended_goes_on() -> None:
    code = (
        "import ctypes, threading\n"
        "threading.Thread(target=input).start()\n"
        "print('runs', flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"runs\n"
        assert not has_ended(process.pid)
        process.kill()


def test_a_stopped_process_has_not_ended() -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        assert is_stopped(process.pid)
        assert not has_ended(process.pid)
        process.kill()
