"""Reading ELF files that may be anything by now: profiles are read long after they were made."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable
from typing import IO, Any, TypeVar

_Found = TypeVar("_Found")
# What pyelftools ends on in a damaged file, beside its own errors: it takes offsets and sizes as
# they stand there.
_DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, OSError),
    *(RecursionError, TypeError, ValueError, struct.error),
)


def from_elf(path: str, take: Callable[[Any], _Found], otherwise: _Found) -> _Found:
    """What `take` finds in an ELF file.

    Parameters
    ----------
    path : str
    take : callable
        From the opened `ELFFile` to what is wanted of it.
    otherwise : object
        Where the file is gone, is no ELF file, or is damaged.
    """
    # To open a pipe would be to wait for who writes it.
    if not os.path.isfile(path):
        return otherwise
    try:
        with open(path, "rb") as file:
            return _taken(file, take, otherwise)
    except OSError:
        return otherwise


def from_elf_bytes(data: bytes, take: Callable[[Any], _Found], otherwise: _Found) -> _Found:
    """The same of an ELF file that is in memory."""
    return _taken(io.BytesIO(data), take, otherwise)


def _taken(file: IO[bytes], take: Callable[[Any], _Found], otherwise: _Found) -> _Found:
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError
    from elftools.elf.elffile import ELFFile

    try:
        return take(ELFFile(file))
    except (ELFError, ConstructError, *_DAMAGE):
        return otherwise
