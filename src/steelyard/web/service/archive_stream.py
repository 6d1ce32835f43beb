"""A tar file of many files, made while it is sent: it is never whole on a disk."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence

_CHUNK_BYTES = 1 << 18
_RECORD = tarfile.RECORDSIZE


def tar_stream(files: Sequence[tuple[str, str]]) -> Iterator[bytes]:
    """The bytes of a tar file.

    Parameters
    ----------
    files : sequence of tuple of str
        What each is called in it, and where it lies. One that is gone meanwhile is left out.
    """
    size = 0
    for name, path in files:
        for chunk in _member(name, path):
            size += len(chunk)
            yield chunk
    end = 2 * tarfile.BLOCKSIZE
    yield b"\0" * (end + -(size + end) % _RECORD)


def _member(name: str, path: str) -> Iterator[bytes]:
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return
    with file:
        about = tarfile.TarInfo(name)
        about.size = os.fstat(file.fileno()).st_size
        yield about.tobuf()
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
        yield b"\0" * (-about.size % tarfile.BLOCKSIZE)
