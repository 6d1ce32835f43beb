"""What foreign files end in: one error, whatever they hold."""

from __future__ import annotations

import csv
import errno
import os
import re
import stat
import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager

from steelyard.core.errors import DataError, SteelyardError

# What code that decodes a file raises where the file is another one than it should be. Readers say
# more exactly what is wrong wherever they know; this is what is left.
DECODING_FAULTS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    csv.Error,
    re.error,
    struct.error,
)
_PLAIN_NUMBER = re.compile(r"[\x00-\x5e\x60-\x7f]*")


def fault_text(error: BaseException) -> str:
    """What a fault says, in one line of some words."""
    if isinstance(error, RecursionError):
        return "it nests too deep"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    told = " ".join(str(error).split()).removesuffix(".")[:200] or type(error).__name__
    return f"it lacks {told}" if isinstance(error, KeyError) else told


@contextmanager
def decoding(what: str, field: str = "file") -> Generator[None]:
    """Turn any fault of decoding into a `DataError` that begins with `what`.

    Errors that say themselves what is wrong pass unchanged.
    """
    try:
        yield
    except SteelyardError:
        raise
    except DECODING_FAULTS as error:
        raise DataError(f"{what}: {fault_text(error)}.", field=field) from None


def regular_opener(path: str, flags: int) -> int:
    """Open a regular file: an opener for `open`. Nobody waits for the writer of a pipe.

    Raises
    ------
    OSError
        It cannot be opened, or is no regular file, such as a pipe, a socket or a device.
    """
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # A socket.
            raise _not_regular(path) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise NotRegularError(errno.EISDIR, "it is a directory, not a regular file", path)
    raise _not_regular(path)


class NotRegularError(OSError):
    """A file is a pipe, a socket or a device."""


def _not_regular(path: str) -> NotRegularError:
    return NotRegularError(errno.EINVAL, "it is not a regular file", path)


def open_regular(path: str) -> int:
    """A descriptor of a regular file, for reading; see `regular_opener`."""
    return regular_opener(path, os.O_RDONLY)


def number_of(text: str, kind: Callable[[str], float] = float) -> float:
    """The number that a cell of a table holds.

    Python also reads ``1_000`` and the digits of other scripts, which no program writes as numbers.

    Raises
    ------
    ValueError
        It is none.
    """
    if _PLAIN_NUMBER.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no number")
    return kind(text)
