"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steelyard.core.errors import DataError
from steelyard.core.private_file import make_private_file

_PAST = {"read": "read", "write": "written"}


@contextmanager
def file_errors(path: str, doing: str) -> Iterator[None]:
    """Turn what the system says of a file into one message that names it."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path} cannot be {_PAST[doing]}: {reason}.", field="file") from None


@contextmanager
def whole_file(path: str) -> Iterator[str]:
    """A name to write to; what is there takes the place of `path` when all of it is written.

    A path that is no regular file, such as a terminal or a pipe, is written directly. A new file
    is its owner's alone; one that is replaced gives its permissions to the next.
    """
    with file_errors(path, "write"):
        target = os.path.realpath(path)
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            yield path
            return
        partial = f"{target}.{os.getpid()}.partial"
        try:
            make_private_file(partial, like=target)
            yield partial
            with open(partial, "rb") as file:
                os.fsync(file.fileno())
            os.replace(partial, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(partial)
