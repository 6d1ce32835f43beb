"""Files that only their owner may read: stores, exports and answers hold commands and machines."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

MODE = 0o600
DIRECTORY_MODE = 0o700


def private_opener(path: str, flags: int) -> int:
    """For ``open(..., opener=private_opener)``: a file that is made is its owner's alone; one that
    is there keeps its permissions."""
    return os.open(path, flags, MODE)


def make_private_directories(path: str) -> None:
    """Make a directory and those above it that are missing, each its owner's alone."""
    if path and not os.path.isdir(path):
        make_private_directories(os.path.dirname(path))
        with suppress(FileExistsError):
            os.mkdir(path, DIRECTORY_MODE)


def make_private_file(path: str, like: str | None = None) -> None:
    """Make `path` for others to write to; nothing where it is there.

    Parameters
    ----------
    like : str, optional
        A file whose permissions it gets, if that is there: the one that it is to replace.
    """
    with suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(path, flags, MODE)
        try:
            with suppress(FileNotFoundError):
                if like is not None:
                    os.fchmod(descriptor, stat.S_IMODE(os.stat(like).st_mode))
        finally:
            os.close(descriptor)
