"""What foreign files end in: one error, whatever they hold."""

from __future__ import annotations

import csv
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


def open_regular(path: str) -> int:
    """A descriptor of a regular file, for reading. Nobody waits for the writer of a pipe.

    Raises
    ------
    OSError
        It cannot be opened, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "it is not a regular file", path)
    return descriptor


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
