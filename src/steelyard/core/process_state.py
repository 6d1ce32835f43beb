"""Whether a process has ended, or is stopped, and waking it: programs can do that to others."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from steelyard.core.interruption import start_unheeded

LOOK_INTERVAL_S = 1.0
# proc(5), field 3 of stat: stopped by a signal, and by a tracer.
_STOPPED = (b"T", b"t")


# Dead, and not waited for.
_ENDED = (b"Z", b"X")


def _state_in(folder: str) -> bytes:
    """The letter of a process or a thread by its folder in /proc; empty where that is gone."""
    try:
        with open(f"{folder}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split(None, 1)[0]
    except (OSError, IndexError):
        return b""


def is_stopped(process: int) -> bool:
    """Whether a process is stopped, by a signal or by a tracer; no for one that is gone."""
    return _state_in(f"/proc/{process}") in _STOPPED


def has_ended(process: int) -> bool:
    """Whether a process is gone, or has no thread left but is waited for by nobody."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return True
    states = (_state_in(f"/proc/{process}/task/{thread}") for thread in threads)
    return all(state in (b"", *_ENDED) for state in states)


@contextmanager
def kept_awake(process: int, say: Callable[[str], None] | None = None) -> Generator[None]:
    """While the block lasts, wake `process` within a second of it having been stopped.

    Parameters
    ----------
    say : callable, optional
        Takes a sentence the first time, in a thread of its own.
    """
    ended = threading.Event()

    def look() -> None:
        told = say
        while not ended.wait(LOOK_INTERVAL_S):
            if not is_stopped(process):
                continue
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
            if told is not None:
                told("what watches the program was stopped, by it most likely, and woken")
                told = None

    watcher = threading.Thread(target=look, daemon=True)
    # Who waits here for the process is to be interrupted itself.
    start_unheeded(watcher)
    try:
        yield
    finally:
        ended.set()
        watcher.join()
