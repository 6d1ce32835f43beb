"""Which files of a program are in the page cache, and getting them in or out of it."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from steelyard.core.experiment_spec import LaunchSpec

_READ_BYTES = 1 << 20
_PROT_READ, _MAP_SHARED = 1, 1  # <sys/mman.h>


class Cached(NamedTuple):
    """How much of some files there is, and how much of it in memory."""

    size_bytes: int
    cached_bytes: int


def program_files(launch: LaunchSpec) -> tuple[str, ...]:
    """The files that a launch names: its program, its input, and arguments that are files.

    Libraries and what the program opens by itself are not seen.
    """
    import shutil

    directory = launch.working_directory or "."
    environment = dict(launch.environment)
    path = environment.get("PATH") or os.environ.get("PATH")
    words = [shutil.which(launch.argv[0], path=path) or launch.argv[0], *launch.argv[1:]]
    if launch.stdin_file is not None:
        words.append(launch.stdin_file)
    found = (os.path.realpath(os.path.join(directory, word)) for word in words if "\0" not in word)
    return tuple(dict.fromkeys(file for file in found if os.path.isfile(file)))


def read_in(files: Sequence[str]) -> None:
    """Read `files` whole, so that they are in the page cache."""
    for descriptor in _opened(files):
        while os.read(descriptor, _READ_BYTES):
            pass


def drop(files: Sequence[str]) -> None:
    """Have the kernel drop what it holds of `files`; pages that a process maps stay."""
    for descriptor in _opened(files):
        # Only clean pages are dropped.
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def cached(files: Sequence[str]) -> Cached:
    """How much of `files` is in memory (mincore(2))."""
    size = in_memory = 0
    for descriptor in _opened(files):
        length = os.fstat(descriptor).st_size
        size += length
        in_memory += min(length, _resident_bytes(descriptor, length))
    return Cached(size, in_memory)


def _opened(files: Sequence[str]) -> Iterator[int]:
    for path in files:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _resident_bytes(descriptor: int, length: int) -> int:
    if length == 0:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = libc.mmap(None, length, _PROT_READ, _MAP_SHARED, descriptor, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    pages = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    try:
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(length), pages) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(length))
    return mmap.PAGESIZE * sum(page & 1 for page in pages)
