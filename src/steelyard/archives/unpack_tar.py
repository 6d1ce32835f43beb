"""Unpacking a tar file of which nothing is believed, with every version of Python alike.

Python's own filter is not used: 3.11.2, which Debian 12 has, lacks it. Plain files and
directories are written first and links last, so that nothing is ever written through a link.
"""

from __future__ import annotations

import lzma
import os
import shutil
import struct
import tarfile
import zlib
from contextlib import suppress
from typing import IO, cast

from steelyard.archives.decompressed import Decompressed, decompressed
from steelyard.archives.member_links import MemberLinks
from steelyard.archives.unpack_limits import MODE_MASK, UnpackLimits, inside
from steelyard.core.errors import ArchiveError

# Headers are read at once, so that one of this length would be held in memory.
_LONGEST_READ_BYTES = 4 * 2**20
DAMAGED = (
    *(tarfile.TarError, EOFError, lzma.LZMAError, zlib.error, ValueError, RecursionError),
    *(ArithmeticError, LookupError, struct.error),
)


class _Bounded:
    """A stream that refuses to be read, or skipped, beyond what an archive may become."""

    def __init__(self, stream: IO[bytes], limits: UnpackLimits) -> None:
        self._stream = stream
        self._limits = limits
        self.last = b""

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _LONGEST_READ_BYTES:
            raise ArchiveError(f"one of its headers has {size} bytes")
        self._limits.check_size(self._stream.tell() + size - tarfile.RECORDSIZE)
        self.last = self._stream.read(size)
        return self.last

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
    ArchiveError
        It is damaged, or a member has no place in a source: a name that leads out, a link that
        does, a device, a FIFO, more than the limits allow.
    """
    limits = limits or UnpackLimits(os.path.getsize(archive))
    with open(archive, "rb") as file:
        opened = decompressed(file)
        stream = _Bounded(cast("IO[bytes]", opened), limits)
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as members:
            _Unpacking(members, directory, limits).run()
        _read_to_end(stream, opened, is_strict=limits.is_strict)


def _read_to_end(stream: _Bounded, opened: Decompressed | IO[bytes], *, is_strict: bool) -> None:
    """Read what follows the members, where compressors keep their sum.

    Python takes a damaged header for the end; a stranger's archive has the end that tar writes,
    and nothing after it.
    """
    if is_strict and stream.last != bytes(tarfile.BLOCKSIZE):
        raise ArchiveError("it is damaged or cut off after its last member that can be read")
    while rest := stream.read(_LONGEST_READ_BYTES):
        if is_strict and rest.strip(b"\0"):
            raise ArchiveError("something follows the end of the archive")
    if is_strict and isinstance(opened, Decompressed) and opened.has_rest:
        raise ArchiveError("something follows the end of the compressed data")


class _Unpacking:
    """One archive on its way into a directory."""

    def __init__(self, members: tarfile.TarFile, directory: str, limits: UnpackLimits) -> None:
        self._members = members
        self._directory = directory
        self._limits = limits
        self._links = MemberLinks(directory)

    def run(self) -> None:
        for member in self._members:
            self._limits.add(member.name, member.size if member.isreg() else 0)
            path = self._limits.place(member.name, is_directory=member.isdir())
            self._check(member)
            if member.isdir():
                self._make_directory(path)
            elif member.isreg():
                self._write(member, path)
            elif member.issym():
                self._links.add(path, member.linkname)
            elif member.islnk():
                self._link_hard(member, path)
            else:
                raise ArchiveError(f"its member {member.name!r} is neither a file nor a directory")
        self._links.make()

    def _check(self, member: tarfile.TarInfo) -> None:
        if not self._limits.is_strict:
            return
        if member.isreg():
            self._limits.check_mode(member.name, member.mode)
        if member.issparse() or any(key.startswith("GNU.sparse") for key in member.pax_headers):
            raise ArchiveError(f"its member {member.name!r} is a sparse file")

    def _make_directory(self, path: str) -> None:
        os.makedirs(self._links.free(path), exist_ok=True)

    def _write(self, member: tarfile.TarInfo, path: str) -> None:
        content = self._members.extractfile(member)
        if content is None or not path:
            raise ArchiveError(f"its member {member.name!r} has no content")
        target = self._links.free(path)
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
            raise ArchiveError(f"its member {member.name!r} is a link to no file of the archive")
        os.link(source, self._links.free(path))
