"""Reading ELF files that may be anything by now: profiles are read long after they were made."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Any, TypeVar

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
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError
    from elftools.elf.elffile import ELFFile

    # To open a pipe would be to wait for who writes it.
    if not os.path.isfile(path):
        return otherwise
    try:
        with open(path, "rb") as file:
            return take(ELFFile(file))
    except (ELFError, ConstructError, *_DAMAGE):
        return otherwise
