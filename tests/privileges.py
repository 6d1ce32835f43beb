"""Root without root's leave to read and write every file: what a user of their own files may."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

# linux/capability.h, linux/securebits.h, linux/prctl.h
_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER = 1, 2, 3
_NO_SETUID_FIXUP = 1 << 2
_PR_GET_SECUREBITS, _PR_SET_SECUREBITS = 27, 28

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


def _checked(status: int) -> int:
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return status


@contextmanager
def without_leave_to_every_file() -> Iterator[None]:
    """Let the modes of files hold for this thread, also if it is root's, until the block ends.

    The owner and all else that root may stay as they are. `access(2)` would give root all that
    it could take again; with the secure bit set it answers for what is in force.
    """
    if os.geteuid() != 0:
        yield
        return
    header = _Header(_VERSION_3, 0)
    sets = (_Capabilities * 2)()
    _checked(_libc.capget(ctypes.byref(header), sets))
    bits = _checked(_libc.prctl(_PR_GET_SECUREBITS, 0, 0, 0, 0))
    before = sets[0].effective
    _checked(_libc.prctl(_PR_SET_SECUREBITS, bits | _NO_SETUID_FIXUP, 0, 0, 0))
    sets[0].effective &= ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH | 1 << _FOWNER)
    _checked(_libc.capset(ctypes.byref(header), sets))
    try:
        yield
    finally:
        sets[0].effective = before
        _checked(_libc.capset(ctypes.byref(header), sets))
        _checked(_libc.prctl(_PR_SET_SECUREBITS, bits, 0, 0, 0))
