"""The user's cache of what the suite fetches and makes: nothing in it is ever there by half.

Whatever is made is made under another name, beside its place, and takes it by rename. A lock for
each item keeps two processes from making the same; what a killed one left is swept away by the
next that wants the item.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steelyard.core.errors import SuiteError

CACHE_VARIABLE = "STEELYARD_SUITE_CACHE"


class SuiteCache:
    """The directories of the cache.

    Parameters
    ----------
    root : str, optional
        ``$STEELYARD_SUITE_CACHE``, else ``steelyard/suite`` in the user's cache directory.
    """

    def __init__(self, root: str | None = None) -> None:
        self.root = os.path.abspath(root or os.environ.get(CACHE_VARIABLE) or _usual_root())

    def path(self, *parts: str) -> str:
        """A place in the cache, which need not exist."""
        return os.path.join(self.root, *parts)

    def directory(self, *parts: str) -> str:
        """A directory of the cache, made where it is missing."""
        path = self.path(*parts)
        with disk_errors(path):
            os.makedirs(path, exist_ok=True)
        return path

    @contextmanager
    def lock(self, item: str) -> Iterator[None]:
        """Hold the lock of one item; waits while another process has it."""
        path = os.path.join(self.directory("locks"), f"{item}.lock")
        with disk_errors(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def new_directory(self, path: str) -> Iterator[str]:
        """A directory to fill, which becomes `path` when the block ends without an error.

        The caller holds the item's lock, and `path` is not there.
        """
        partial = f"{path}.partial"
        with disk_errors(path):
            remove_tree(partial)
            os.makedirs(partial)
            try:
                yield partial
                os.rename(partial, path)
            except BaseException:
                remove_tree(partial)
                raise


def _usual_root() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # The XDG specification: relative paths are to be ignored.
        cache = os.path.expanduser("~/.cache")
    return os.path.join(cache, "steelyard", "suite")


@contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Turn what the system says about the cache's disk into one message.

    Raises
    ------
    SuiteError
        The disk is full, or the cache may not be written.
    """
    try:
        yield
    except shutil.Error as error:
        source, _, reason = error.args[0][0]
        raise SuiteError(f"{source} cannot be copied to {path}: {reason}") from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise SuiteError(
                f"The disk has no room for {path}. Make some, or name another directory for the "
                f"cache with {CACHE_VARIABLE}. What the cache has already is whole."
            ) from None
        where = error.filename or path
        raise SuiteError(f"{where} cannot be written or read: {error.strerror}.") from None


def remove_tree(path: str) -> None:
    """Remove a directory, or whatever is there, also where it was made read-only."""
    if os.path.isdir(path) and not os.path.islink(path):
        for folder, _, _ in os.walk(path):
            os.chmod(folder, 0o700)
        shutil.rmtree(path)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)
