"""Run one command with what a quiet host needs of its launch, without the trial launcher."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

from steelyard.core.errors import HostError, MissingCapabilityError
from steelyard.core.go_between import FORWARDED, fork_between
from steelyard.core.process_state import kept_awake

# <linux/personality.h>, <linux/sched.h>
ADDR_NO_RANDOMIZE = 0x0040000
CLONE_NEWNET = 0x40000000
_EXEC_FAILED = 127


def run_command(argv: Sequence[str], launch_changes: Mapping[str, Any]) -> int:
    """Run `argv` with the caller's standard streams and give its exit status.

    Signals that would end this process go to the command instead, and the command ends when
    this process is killed: it must not run on while the host is no longer quiet. It is no child
    of this process, which it could stop (`go_between`).

    Parameters
    ----------
    argv : sequence of str
        The program, searched in ``PATH``, and its arguments.
    launch_changes : mapping
        Fields of a launch specification: `aslr`, `cpus`, `realtime_priority`,
        `private_network`, `working_directory`.

    Returns
    -------
    int
        The exit code, or 128 plus the number of the signal that ended it.

    Raises
    ------
    MissingCapabilityError
        The command cannot be started.
    HostError
        One of the changes cannot be made for it.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC)
    child = fork_between(lambda: _become(argv, launch_changes, writer))
    os.close(writer)
    with _Forwarding(child), kept_awake(child):
        with os.fdopen(reader, "rb") as pipe:
            complaint = pipe.read().decode("utf-8", "replace")
        _, status = os.waitpid(child, 0)
    if complaint:
        kind = MissingCapabilityError if complaint.startswith("start") else HostError
        raise kind(f"The command could not be {complaint}")
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(argv: Sequence[str], changes: Mapping[str, Any], complaints: int) -> NoReturn:
    step = "made quiet"
    try:
        _change_self(changes)
        step = "started"
        os.execvp(argv[0], list(argv))
    except OSError as error:
        text = f"{step}: {error.filename or argv[0]}: {error.strerror}."
        os.write(complaints, text.encode("utf-8", "replace"))
    finally:
        os._exit(_EXEC_FAILED)


def _change_self(changes: Mapping[str, Any]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if changes.get("working_directory"):
        os.chdir(changes["working_directory"])
    if changes.get("private_network") and libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace may be made", "unshare")
    if changes.get("cpus"):
        os.sched_setaffinity(0, changes["cpus"])
    if changes.get("realtime_priority"):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(changes["realtime_priority"]))
    if changes.get("aslr") is False:
        persona = libc.personality(0xFFFFFFFF)
        if persona == -1 or libc.personality(persona | ADDR_NO_RANDOMIZE) == -1:
            raise OSError(ctypes.get_errno(), "ASLR may not be switched off", "personality")


class _Forwarding:
    """While entered, hands signals that would end this process to process `child`."""

    def __init__(self, child: int) -> None:
        self.child = child
        self._former: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in FORWARDED:
            self._former[number] = signal.signal(number, self._forward)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        # The terminal has sent an interrupt to the command as well, but a second does no harm.
        try:
            os.kill(self.child, number)
        except ProcessLookupError:
            return
