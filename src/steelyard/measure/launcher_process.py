"""The launcher as a process: started, written to and read from without waiting for it, and ended.

Messages wait here while its pipe is full, and both directions are served together, so that
neither side can wait for the other while that one waits too.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
from contextlib import suppress
from typing import Protocol

from steelyard.core.native_program import native_program
from steelyard.core.process_state import LOOK_INTERVAL_S, is_stopped

JOURNAL_DESCRIPTOR = 3
READ_SIZE_BYTES = 1 << 18
# Room for the records of some 2,000 trials; what an unprivileged process may ask for at most.
PIPE_SIZE_BYTES = 1 << 20


class OpenFile(Protocol):
    """A journal that is open for appending."""

    def fileno(self) -> int: ...


def launcher_path() -> str:
    """The launcher's binary: ``STEELYARD_LAUNCHER``, or the one inside the package.

    Raises
    ------
    MissingCapabilityError
        There is none.
    """
    return native_program("steelyard-launcher", "the launcher", variable="STEELYARD_LAUNCHER")


class LauncherProcess:
    """A process of the launcher, which runs from here on.

    Parameters
    ----------
    journal : str or open file
        The journal that it appends to: its path, or the file that holds its lock.

    Raises
    ------
    MissingCapabilityError
        The launcher is not installed.
    """

    def __init__(self, journal: str | OpenFile) -> None:
        self._to_send = bytearray()
        self._received = b""
        self.wait_status: int | None = None
        self._start(journal)

    def _start(self, journal: str | OpenFile) -> None:
        binary = launcher_path()
        opened = -1
        if isinstance(journal, str):
            opened = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        descriptor = opened if isinstance(journal, str) else journal.fileno()
        theirs_in, self._in = os.pipe()
        self._out, theirs_out = os.pipe()
        try:
            actions = [
                (os.POSIX_SPAWN_DUP2, theirs_in, 0),
                (os.POSIX_SPAWN_DUP2, theirs_out, 1),
                (os.POSIX_SPAWN_DUP2, descriptor, JOURNAL_DESCRIPTOR),
            ]
            self.pid = os.posix_spawn(binary, [binary], os.environ, file_actions=actions)
        finally:
            for end in (theirs_in, theirs_out, opened):
                if end >= 0:
                    os.close(end)
        with suppress(OSError):  # Its usual size does too, with more waking.
            fcntl.fcntl(self._out, fcntl.F_SETPIPE_SZ, PIPE_SIZE_BYTES)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, and all that it said was received."""
        return self.wait_status is not None

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped it, so that it will not go on by itself."""
        return is_stopped(self.pid)

    def put(self, message: bytes) -> None:
        """Have `message` sent after those before it, when it is next received or waited for."""
        self._to_send += message

    def forget_unsent(self) -> None:
        """Drop the messages that it has not been sent."""
        self._to_send.clear()

    def receive(self) -> list[bytes]:
        """The lines that can be read without waiting; reaps it where it has ended."""
        if self.has_ended:
            return []
        self.send()
        chunks = [self._received]
        ended = False
        while True:
            try:
                chunk = os.read(self._out, READ_SIZE_BYTES)
            except BlockingIOError:
                break
            if not chunk:
                ended = True
                break
            chunks.append(chunk)
        *lines, self._received = b"".join(chunks).split(b"\n")
        if ended:
            self._reap()
        return lines

    def send(self) -> None:
        """Write as much as its pipe takes."""
        while self._to_send:
            try:
                sent = os.write(self._in, self._to_send)
            except BlockingIOError:
                break
            except BrokenPipeError:
                self._to_send.clear()
                break
            del self._to_send[:sent]

    def wait(self, left_s: float | None) -> bool:
        """Wait for lines, but no longer than until the next look; whether something came."""
        self.send()
        if self._to_send:
            self._poll.register(self._in, select.POLLOUT)
        wait_s = LOOK_INTERVAL_S if left_s is None else min(left_s, LOOK_INTERVAL_S)
        came = self._poll.poll(wait_s * 1e3)
        if self._to_send:
            self._poll.unregister(self._in)
        return bool(came)

    def terminate(self) -> None:
        """Ask it to end with what it runs; one that is stopped is killed."""
        self._signal(signal.SIGKILL if self.is_stopped else signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if not self.has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _reap(self) -> None:
        _, self.wait_status = os.waitpid(self.pid, 0)
        os.close(self._in)
        os.close(self._out)
        if os.WIFSIGNALED(self.wait_status):
            _end_session(self.pid)


def _end_session(session: int) -> None:
    """End what a killed launcher left: the program dies with it, but not what that had started.

    The launcher leads a session of its own, which its programs inherit.
    """
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with suppress(OSError):
            with open(f"/proc/{entry}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                os.kill(int(entry), signal.SIGKILL)
