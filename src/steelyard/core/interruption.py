"""Interruptions that are heard even where Python drops their exception.

A signal's handler runs between any two instructions. Where that is in a destructor or in a callback
of a weak reference, such as that of each import, an exception is printed and goes no further. What
waits for long asks here whether that happened.

The kernel may hand a signal to any thread that does not block it. Python then runs the handler in
the first thread, once that runs again, and wakes it not: who waits beside other threads looks up
now and then, or those block the signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_UP_S = 0.5

_unheard: list[int] = []


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """The handler of a signal that interrupts: notes it, and does what Ctrl-C does."""
    _unheard.append(number)
    signal.default_int_handler(number, frame)


def raise_unheard() -> None:
    """Interrupt once more where nobody has heard the last time.

    Raises
    ------
    KeyboardInterrupt
        A signal came since `heard` was last called.
    """
    if _unheard:
        raise KeyboardInterrupt


def heard() -> None:
    """Say that what was to be interrupted ends now."""
    _unheard.clear()


def wait_until(is_over: Callable[[float], bool]) -> None:
    """Wait for what takes long, and hear an interruption that another thread was handed.

    Parameters
    ----------
    is_over : callable
        Waits for so many seconds at most, and says whether there is no more to wait for.

    Raises
    ------
    KeyboardInterrupt
    """
    while not is_over(_LOOK_UP_S):
        raise_unheard()


def block_interruptions() -> None:
    """Let this thread, which starts no process, be handed no signal that is to interrupt."""
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)


def start_unheeded(thread: threading.Thread) -> None:
    """Start a thread, which starts no process, that is handed no signal that is to interrupt."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
