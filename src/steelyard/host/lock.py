"""One measurement at a time on a machine: a lock that all users share.

The kernel holds it (flock), so it goes with the process, however that ends, and is asked who
holds it. The file's text only says what for.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable
from types import TracebackType

from steelyard.core.errors import BusyError, HostError

LOCK_VARIABLE = "STEELYARD_LOCK"
_DIRECTORIES = ("/run/lock", "/tmp")
_NAME = "steelyard.lock"
_TEXT_BYTES = 512
_LONGEST_TIME = 12
# What holds the machine for a moment, again and again, in the background: nobody is refused for it.
BRIEF_PURPOSE = "reference benchmark"
_BRIEFLY_S, _LOOK_S = 60.0, 0.05


def lock_path() -> str:
    """Where the lock is: ``$STEELYARD_LOCK``, or a folder that every user can write to."""
    chosen = os.environ.get(LOCK_VARIABLE)
    if chosen:
        return chosen
    for directory in _DIRECTORIES:
        if os.access(directory, os.W_OK | os.X_OK):
            return f"{directory}/{_NAME}"
    return f"{_DIRECTORIES[-1]}/{_NAME}"


def open_shared(path: str) -> int:
    """Open the file `path`, which all users share, and make it if it is not there.

    A link or anything but a regular file is refused, since in a folder that everybody writes
    to it may have been put there to have another file overwritten.
    """
    common = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    for _ in range(8):
        try:
            # First without O_CREAT: with it the kernel refuses another user's file in a
            # sticky folder (fs.protected_regular), and refuses root as well.
            return _regular(os.open(path, os.O_RDWR | common), path)
        except PermissionError:
            return _regular(os.open(path, os.O_RDONLY | common), path)
        except FileNotFoundError:
            try:
                fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | common, 0o666)
            except FileExistsError:
                continue
            os.fchmod(fd, 0o666)
            return fd
    raise HostError(f"The lock file {path} comes and goes. Another program removes it.")


def _regular(fd: int, path: str) -> int:
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
        return fd
    os.close(fd)
    raise HostError(f"The lock file {path} is not a plain file. Remove it, or set {LOCK_VARIABLE}.")


class MachineLock:
    """Holds the machine while entered. See `machine_lock`."""

    def __init__(
        self, purpose: str, wait: bool, on_wait: Callable[[str], None] | None, path: str | None
    ) -> None:
        self.purpose = purpose
        self.wait = wait
        self.on_wait = on_wait
        self.path = path or lock_path()
        self._fd: int | None = None

    def __enter__(self) -> MachineLock:
        try:
            fd = open_shared(self.path)
        except OSError as error:
            raise HostError(
                f"The lock file {self.path} cannot be opened: {error.strerror}. "
                f"Remove it, or set {LOCK_VARIABLE} to another path."
            ) from None
        try:
            self._acquire(fd)
            _describe_holder(fd, self.purpose)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _acquire(self, fd: int) -> None:
        holder = _try_to_lock(fd)
        until_s = time.monotonic() + _BRIEFLY_S
        while (
            holder is not None
            and not self.wait
            and f", {BRIEF_PURPOSE}, " in holder
            and time.monotonic() < until_s
        ):
            time.sleep(_LOOK_S)
            holder = _try_to_lock(fd)
        if holder is None:
            return
        if not self.wait:
            raise BusyError(
                f"This machine is measuring already: {holder}. Two at once would disturb "
                "each other. Wait for it to end, or give --wait."
            )
        if self.on_wait is not None:
            self.on_wait(f"Waiting for another measurement to end: {holder}.")
        fcntl.flock(fd, fcntl.LOCK_EX)


def _try_to_lock(fd: int) -> str | None:
    """Who holds the lock already; None: it is held here now."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(fd)
    return None


def machine_lock(
    purpose: str,
    wait: bool = False,
    *,
    on_wait: Callable[[str], None] | None = None,
    path: str | None = None,
) -> MachineLock:
    """A context in which no other Steelyard measures on this machine.

    Parameters
    ----------
    purpose : str
        Told to others who want the lock, such as ``"compare 01J..."``.
    wait : bool
        Wait for a holder to end instead of refusing.
    on_wait : callable, optional
        Called once with a sentence that names the holder, before waiting.
    path : str, optional
        The lock file; by default `lock_path`.

    Raises
    ------
    BusyError
        On entering: another process holds it. The message names it.
    HostError
        On entering: the lock file cannot be used.
    """
    return MachineLock(purpose, wait, on_wait, path)


def _describe_holder(fd: int, purpose: str) -> None:
    text = f"{os.getpid()} {time.time():.0f} {purpose}\n"
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, text.encode("utf-8", "replace")[:_TEXT_BYTES], 0)
    except OSError:
        # Opened for reading only: another user's file. The lock holds without the text.
        return


def _read_holder(fd: int) -> str:
    """Who holds the lock, by the kernel. What the file says counts only if it is of that process:
    every user may write it."""
    holder = _locking_process(fd)
    text = os.pread(fd, _TEXT_BYTES, 0).decode("ascii", "replace")
    pid, _, rest = text.strip().partition(" ")
    started, _, purpose = rest.partition(" ")
    if holder is None:
        return "a process that cannot be seen from here"
    if pid != str(holder) or not started.isdigit() or len(started) > _LONGEST_TIME:
        return f"process {holder}"
    age_s = max(0, int(time.time()) - int(started))
    plain = "".join(c for c in purpose if c.isascii() and (c.isalnum() or c in " .-_:"))
    return f"process {pid}, {plain or 'unnamed'}, for {age_s} s"


def _locking_process(fd: int) -> int | None:
    """The process that holds a flock(2) of this file, as /proc/locks (proc(5)) has it; None where
    it is in another namespace of processes."""
    status = os.fstat(fd)
    file = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as locks:
            for line in locks:
                fields = line.split()
                # One that waits has `->` in its second field.
                if fields[1:2] == ["FLOCK"] and fields[5:6] == [file] and int(fields[4]) > 0:
                    return int(fields[4])
    except (OSError, ValueError):
        return None
    return None
