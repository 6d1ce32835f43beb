"""One quiet session at a time: who holds the host, and taking it.

The lock is one of the open file description (fcntl(2), ``F_OFD_SETLK``): it goes with the
process, however that ends, and whether somebody holds it can be asked without holding it.
"""

from __future__ import annotations

import fcntl
import os
import struct

from steelyard.core.errors import BusyError, HostError
from steelyard.host.system import Host

# Only root writes there, and a lock need not outlive the boot that it belongs to.
MACHINE_LOCK = "/run/steelyard-host.lock"
# struct flock with its padding: l_type, l_whence, l_start, l_len, l_pid.
_FLOCK = "hhqqi0q"


def is_session(name: str) -> bool:
    """Whether a text may be the name of a session in the names of what a session makes."""
    return bool(name) and all(c.isascii() and (c.isalnum() or c == "-") for c in name)


def session_lock_path(journal_path: str, host: Host) -> str:
    """The file that a session with this journal holds."""
    is_shared = host.is_root and not host.root
    return MACHINE_LOCK if is_shared else f"{journal_path}.lock"


def is_session_alive(journal_path: str, host: Host) -> bool:
    """Whether a process holds the host now."""
    try:
        fd = os.open(session_lock_path(journal_path, host), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Only asked: a lock held even for a moment would refuse a session that starts in it.
        answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_RDLCK))
    finally:
        os.close(fd)
    return struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK


def _whole_file(kind: int) -> bytes:
    """A lock of this kind on a whole file, as fcntl(2) takes it."""
    return struct.pack(_FLOCK, kind, os.SEEK_SET, 0, 0, 0)


class SessionLock:
    """Holds the host for this process while entered.

    What root changes is the whole machine's, so all its sessions exclude each other, whatever
    journal they use; those of other users exclude each other by journal.

    Raises
    ------
    BusyError
        On entering: another session lives. The message names its process.
    """

    def __init__(self, journal_path: str, host: Host) -> None:
        self.path = session_lock_path(journal_path, host)
        self.journal_path = journal_path
        self.host = host
        self._fd: int | None = None

    def __enter__(self) -> SessionLock:
        directory = os.path.dirname(self.path)
        try:
            for path in (self.path, self.journal_path):
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise HostError(
                f"The host cannot be changed without a journal, and {directory} cannot be "
                f"written: {error.strerror}."
            ) from None
        try:
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
        except BlockingIOError:
            holder = os.pread(fd, 200, 0).decode("utf-8", "replace").split()
            os.close(fd)
            process = holder[0] if holder and holder[0].isdigit() else "?"
            raise BusyError(
                f"Another quiet session is under way: process {process}. "
                "Wait for it to end; it restores the host itself."
            ) from None
        os.ftruncate(fd, 0)
        start = Host().process_start(os.getpid())
        os.pwrite(fd, f"{os.getpid()} {start}\n".encode(), 0)
        self._fd = fd
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
