"""Keeps a build: runs its command, and ends everything that it started when it is over.

A process of its own (``python -IS keeper.py DESCRIPTOR COMMAND...``), so that nothing of a build
outlives Steelyard even if that is killed: its standard input is a pipe that the kernel closes
then. It adopts what its descendants leave behind, and so finds daemons and background jobs too.
It writes its answer to the descriptor, and imports the standard library alone, because it is run
as a file.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from typing import Any

# <linux/prctl.h>
PR_SET_CHILD_SUBREAPER = 36
LIFELINE = 0


def keep(answers: int, argv: list[str]) -> dict[str, Any]:
    """Run `argv` to its end, or until the lifeline closes, and end whatever it left running.

    Returns
    -------
    dict
        ``status`` (as from `os.waitstatus_to_exitcode`), or ``error`` where it did not start.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ended, tell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        child = _start(answers, argv)
    except OSError as error:
        return {"error": error.strerror or str(error)}
    status = None
    try:
        while status is None:
            readable, _, _ = select.select([LIFELINE, ended], [], [])
            if ended in readable:
                os.read(ended, 4096)
            status = _reap(child)
            if LIFELINE in readable and status is None:
                status = -int(signal.SIGKILL)
    finally:
        _end_descendants()
    return {"status": status}


def _start(answers: int, argv: list[str]) -> int:
    null = os.open(os.devnull, os.O_RDONLY)
    actions = [
        (os.POSIX_SPAWN_DUP2, null, 0),
        (os.POSIX_SPAWN_CLOSE, answers),
    ]
    default = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD)
    return os.posix_spawnp(
        argv[0], argv, os.environ, file_actions=actions, setpgroup=0, setsigdef=default
    )


def _reap(child: int) -> int | None:
    """The exit status of `child` if it has ended; adopted processes are reaped on the way."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = os.waitstatus_to_exitcode(status)


def _end_descendants() -> None:
    """Kill until nobody is left: what is orphaned meanwhile is adopted and met the next time."""
    while True:
        _reap(0)
        living = _descendants()
        if not living:
            return
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


if __name__ == "__main__":
    descriptor = int(sys.argv[1])
    os.write(descriptor, json.dumps(keep(descriptor, sys.argv[2:])).encode())
