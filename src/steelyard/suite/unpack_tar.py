"""Unpacking a tar file of which nothing is believed, with every version of Python alike.

Python's own filter is not used: 3.11.2, which Debian 12 has, lacks it. Plain files and
directories are written first and links last, so that nothing is ever written through a link.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import struct
import tarfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import IO, cast

from steelyard.core.errors import SuiteError
from steelyard.suite.unpack_limits import MODE_MASK, UnpackLimits, inside

# Headers are read at once, so that one of this length would be held in memory.
_LONGEST_READ_BYTES = 4 * 2**20
_OPENERS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file)),
    b"BZh": lambda file: cast("IO[bytes]", bz2.BZ2File(file)),
    b"\xfd7zXZ\0": lambda file: cast("IO[bytes]", lzma.LZMAFile(file)),  # noqa: SIM115
}
DAMAGED = (
    *(tarfile.TarError, EOFError, lzma.LZMAError, zlib.error, ValueError, RecursionError),
    *(ArithmeticError, LookupError, struct.error),
)


class _Bounded:
    """A stream that refuses to be read, or skipped, beyond what an archive may become."""

    def __init__(self, stream: IO[bytes], limits: UnpackLimits) -> None:
        self._stream = stream
        self._limits = limits

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _LONGEST_READ_BYTES:
            raise SuiteError(f"one of its headers has {size} bytes")
        self._limits.check_size(self._stream.tell() + size - tarfile.RECORDSIZE)
        return self._stream.read(size)

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._limits.check_size(position - tarfile.RECORDSIZE)
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        return self._stream.tell()


def unpack_tar(archive: str, directory: str, limits: UnpackLimits | None = None) -> None:
    """Unpack a tar file, compressed or not, into an empty directory.

    Files keep their time of change, without which ``make`` would make again what the archive
    brings, and of their permissions whether they may be executed.

    Raises
    ------
    SuiteError
        It is damaged, or a member has no place in a source: a name that leads out, a link that
        does, a device, a FIFO, more than the limits allow.
    """
    limits = limits or UnpackLimits(os.path.getsize(archive))
    with open(archive, "rb") as file:
        stream = _Bounded(_decompressed(file), limits)
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as members:
            _Unpacking(members, directory, limits).run()
        while stream.read(_LONGEST_READ_BYTES):  # To the end, where compressors keep their sum.
            pass


def _decompressed(file: IO[bytes]) -> IO[bytes]:
    start = file.read(6)
    file.seek(0)
    for magic, opened in _OPENERS.items():
        if start.startswith(magic):
            return opened(file)
    return file


class _Unpacking:
    """One archive on its way into a directory."""

    def __init__(self, members: tarfile.TarFile, directory: str, limits: UnpackLimits) -> None:
        self._members = members
        self._directory = directory
        self._limits = limits
        self._links: dict[str, str] = {}

    def run(self) -> None:
        for member in self._members:
            self._limits.add(member.name, member.size if member.isreg() else 0)
            path = inside(member.name)
            if member.isdir():
                self._make_directory(path)
            elif member.isreg():
                self._write(member, path)
            elif member.issym():
                self._links[path] = member.linkname
            elif member.islnk():
                self._link_hard(member, path)
            else:
                raise SuiteError(f"its member {member.name!r} is neither a file nor a directory")
        self._link_all()

    def _make_directory(self, path: str) -> None:
        os.makedirs(self._free(path), exist_ok=True)

    def _free(self, path: str) -> str:
        """Where a member goes; a link that lay there, or above it, is refused."""
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            if "/".join(parts[:count]) in self._links:
                raise SuiteError(f"its member {path!r} is to be written through a link")
        target = os.path.join(self._directory, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return target

    def _write(self, member: tarfile.TarInfo, path: str) -> None:
        content = self._members.extractfile(member)
        if content is None or not path:
            raise SuiteError(f"its member {member.name!r} has no content")
        target = self._free(path)
        with suppress(FileNotFoundError):
            os.unlink(target)
        with content, open(target, "xb") as file:
            shutil.copyfileobj(content, file)
            os.fchmod(file.fileno(), (member.mode & MODE_MASK) | 0o644)
        with suppress(OverflowError, OSError):
            os.utime(target, (member.mtime, member.mtime))

    def _link_hard(self, member: tarfile.TarInfo, path: str) -> None:
        source = os.path.join(self._directory, inside(member.linkname))
        if not os.path.isfile(source):
            raise SuiteError(f"its member {member.name!r} is a link to no file of the archive")
        os.link(source, self._free(path))

    def _link_all(self) -> None:
        """Make the symbolic links, then make sure that none leads out of the directory."""
        root = os.path.realpath(self._directory)
        for path, target in self._links.items():
            if os.path.isabs(target):
                raise SuiteError(f"its link {path!r} leads out of the archive, to {target!r}")
            if os.path.dirname(path):
                self._free(os.path.dirname(path))  # No link lies above it.
            above = os.path.dirname(os.path.join(root, path))
            # Its own name, and not that of a link which the file system takes for the same.
            if os.path.realpath(above) != above:
                raise SuiteError(f"its link {path!r} is to be made through a link")
            os.makedirs(above, exist_ok=True)
            os.symlink(target, os.path.join(root, path))
        for path, target in self._links.items():
            found = os.path.realpath(os.path.join(self._directory, path))
            if found != root and not found.startswith(root + os.sep):
                raise SuiteError(f"its link {path!r} leads out of the archive, to {target!r}")
