"""Read static libraries: ar(5) in its GNU form, and the thin ones that only name their members."""

from __future__ import annotations

import os
from dataclasses import dataclass

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
_HEADER_BYTES = 60
_INDICES = (b"/", b"/SYM64/")


@dataclass(frozen=True)
class Member:
    """A member of an archive: its name and its bytes. `path` is its file, of a thin archive."""

    name: str
    data: bytes
    path: str | None


class NotArchiveError(ValueError):
    """The file is not an archive, or is cut short."""


def read_archive(path: str) -> list[Member]:
    """The members of the archive `path`, in its order, without its index.

    Raises
    ------
    NotArchiveError
        It cannot be read as one.
    OSError
        It, or a member of a thin one, cannot be opened.
    """
    with open(path, "rb") as file:
        data = file.read()
    thin = data.startswith(THIN_MAGIC)
    if not thin and not data.startswith(MAGIC):
        raise NotArchiveError(path)
    found: list[Member] = []
    long_names = b""
    at = len(MAGIC)
    while at + _HEADER_BYTES <= len(data):
        raw = data[at : at + 16].rstrip(b" ")
        try:
            size = int(data[at + 48 : at + 58])
        except ValueError:
            raise NotArchiveError(path) from None
        start = at + _HEADER_BYTES
        inside = not thin or raw in (b"//", *_INDICES)
        if raw == b"//":
            long_names = data[start : start + size]
        elif raw not in _INDICES:
            name = os.fsdecode(_name(raw, long_names))
            found.append(_member(path, name, None if thin else data[start : start + size]))
        at = start + (size + (size & 1) if inside else 0)
    return found


def _name(raw: bytes, long_names: bytes) -> bytes:
    if raw[:1] == b"/" and raw[1:].isdigit():
        start = int(raw[1:])
        return long_names[start : long_names.index(b"/\n", start)]
    return raw.removesuffix(b"/")


def _member(archive: str, name: str, data: bytes | None) -> Member:
    if data is not None:
        return Member(name, data, None)
    path = os.path.join(os.path.dirname(archive), name)
    with open(path, "rb") as file:
        return Member(name, file.read(), path)
