"""Programs of others as grandchildren: one that stops its parent stops nothing that matters.

A child can send ``SIGSTOP`` to its parent, and Steelyard, once stopped, hears no signal but
``SIGKILL``. So a process that only waits stands between; it is woken where it was stopped.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

from steelyard.core.process_state import kept_awake

# <linux/prctl.h>
PR_SET_PDEATHSIG = 1
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What a program that is interrupted has to clean up; as in the standard library's subprocess.
CLEANING_S = 0.25
_FAILED = 127
_LOOK_S = 0.01
_ERRNO = struct.Struct("i")


def fork_between(become: Callable[[], NoReturn]) -> int:
    """Fork a go-between, and from that a process that calls `become`, which replaces it.

    The go-between ends as that process does, hands it the signals that end processes, and ends
    it by ``SIGTERM`` when this process is gone. That process dies with the go-between.

    Returns
    -------
    int
        The go-between, to be waited for inside `kept_awake`.
    """
    ours = os.getpid()
    between = os.fork()
    if between == 0:
        try:
            _stand_between(become, ours)
        finally:
            os._exit(_FAILED)
    return between


def _stand_between(become: Callable[[], NoReturn], steelyard: int) -> NoReturn:
    _end_with(steelyard, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    own = os.getpid()
    child = os.fork()
    if child == 0:
        for number in (*FORWARDED, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _end_with(own, signal.SIGKILL)
        become()

    def forward(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in FORWARDED:
        signal.signal(number, forward)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    _end_as(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _end_with(parent: int, number: signal.Signals) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(_FAILED)


def _end_as(code: int) -> NoReturn:
    if code >= 0:
        os._exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # SIGKILL has no handler to be reset.
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


def run_between(
    argv: Sequence[str],
    environment: Mapping[bytes, bytes] | Mapping[str, str],
    streams: tuple[int, int, int],
    directory: str | None = None,
    *,
    timeout_s: float | None = None,
) -> int:
    """Run a program to its end behind a go-between.

    Parameters
    ----------
    argv : sequence of str
        The program, which is looked up in the ``PATH`` of `environment`, and its arguments.
    environment : mapping
        All of its environment.
    streams : tuple of int
        Descriptors of its standard input, output and error.
    directory : str, optional
        Where it runs.
    timeout_s : float, optional
        It is killed after this time.

    Returns
    -------
    int
        The exit code, or the negative number of the signal that ended it.

    Raises
    ------
    OSError
        It cannot be started.
    TimeoutError
        The time has passed.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC)
    started = _Started(argv, environment, streams, directory)
    between = fork_between(lambda: started.become(writer))
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        try:
            with kept_awake(between):
                code = _wait(between, timeout_s)
        except BaseException:
            end_between(between)
            raise
        failure = pipe.read()
    if failure:
        (number,) = _ERRNO.unpack(failure)
        raise OSError(number, os.strerror(number), argv[0])
    return code


@dataclass(frozen=True)
class _Started:
    argv: Sequence[str]
    environment: Mapping[bytes, bytes] | Mapping[str, str]
    streams: tuple[int, int, int]
    directory: str | None

    def become(self, failures: int) -> NoReturn:
        """Replace this process; what went wrong goes to the descriptor `failures`."""
        try:
            # First away from 0, 1 and 2, which another of them may be.
            apart = [fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 3) for stream in self.streams]
            for number, stream in enumerate(apart):
                os.dup2(stream, number)
            if self.directory is not None:
                os.chdir(self.directory)
            os.execvpe(self.argv[0], list(self.argv), self.environment)
        except OSError as error:
            os.write(failures, _ERRNO.pack(error.errno or 0))
        finally:
            os._exit(_FAILED)


def _wait(between: int, timeout_s: float | None) -> int:
    if timeout_s is None:
        return os.waitstatus_to_exitcode(os.waitpid(between, 0)[1])
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        ended, status = os.waitpid(between, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_LOOK_S)
    raise TimeoutError(f"it did not end within {timeout_s:g} s")


def end_between(between: int) -> None:
    """Let the program clean up for a moment, then kill it and its go-between."""
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(between, signal.SIGTERM)
        os.kill(between, signal.SIGCONT)
        with suppress(TimeoutError):
            _wait(between, CLEANING_S)
            return
        os.kill(between, signal.SIGKILL)
        os.waitpid(between, 0)
