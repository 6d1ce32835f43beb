"""Interruptions that are heard even where Python drops their exception.

A signal's handler runs between any two instructions. Where that is in a destructor or in a callback
of a weak reference, such as that of each import, an exception is printed and goes no further. What
waits for long asks here whether that happened.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

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
