"""A compressed stream, read forward, of which it is known whether anything follows it."""

from __future__ import annotations

import bz2
import importlib
import lzma
import os
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol

from steelyard.core.errors import ArchiveError

_BLOCK_BYTES = 1 << 18
# xz itself needs 65 MiB for files of `xz -9`; more is asked for by traps.
_XZ_MEMORY_BYTES = 256 * 2**20


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Gzip:
    """zlib with the attributes of the others."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)  # gzip's own header and sum

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.eof and not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max(0, max_length))


def _zstd() -> _Decompressor:
    try:
        zstd: Any = importlib.import_module("compression.zstd")
    except ImportError:
        raise ArchiveError(
            "it is compressed with zstd, which Python reads from 3.14 on; compress it with xz"
        ) from None
    return zstd.ZstdDecompressor()


_KINDS: dict[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY_BYTES),
    b"\x28\xb5\x2f\xfd": _zstd,
}
_LONGEST_MAGIC = max(map(len, _KINDS))


def decompressed(file: IO[bytes]) -> Decompressed | IO[bytes]:
    """The content of `file`, by its first bytes; `file` itself where it is not compressed."""
    start = file.read(_LONGEST_MAGIC)
    file.seek(0)
    for magic, made in _KINDS.items():
        if start.startswith(magic):
            return Decompressed(file, magic, made)
    return file


class Decompressed:
    """Reads one compressed stream after another, as `cat a.gz b.gz` makes them.

    Parameters
    ----------
    file : binary file
        At its start.
    magic : bytes
        What each stream begins with.
    made : callable
        A new decompressor.
    """

    def __init__(self, file: IO[bytes], magic: bytes, made: Callable[[], _Decompressor]) -> None:
        self._file = file
        self._magic = magic
        self._made = made
        self._current = made()
        self._position = 0
        self.has_rest = False
        self._ended = False

    def read(self, size: int) -> bytes:
        """At most `size` bytes, fewer only at the end.

        Raises
        ------
        EOFError
            The stream is cut off.
        """
        parts: list[bytes] = []
        left = size
        while left > 0 and not self._ended:
            if self._current.eof:
                self._begin_next()
                continue
            data = self._file.read(_BLOCK_BYTES) if self._current.needs_input else b""
            if not data and self._current.needs_input:
                raise EOFError("it is cut off within its compressed data")
            part = self._current.decompress(data, left)
            parts.append(part)
            left -= len(part)
        found = b"".join(parts)
        self._position += len(found)
        return found

    def _begin_next(self) -> None:
        rest = self._current.unused_data
        while len(rest) < _BLOCK_BYTES and (more := self._file.read(_BLOCK_BYTES)):
            rest = rest.lstrip(b"\0") + more
        rest = rest.lstrip(b"\0")  # Padding, as tapes and xz have it.
        if not rest.startswith(self._magic):
            self.has_rest = bool(rest)
            self._ended = True
            return
        self._current = self._made()
        self._file.seek(-len(rest), os.SEEK_CUR)

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        """Go forward.

        Raises
        ------
        ValueError
            It lies behind, which no reader of an archive asks for.
        """
        if whence != os.SEEK_SET or position < self._position:
            raise ValueError("a compressed archive is read forward")
        while self._position < position:
            if not self.read(min(_BLOCK_BYTES, position - self._position)):
                break
        return self._position

    def tell(self) -> int:
        """How many bytes were read."""
        return self._position
