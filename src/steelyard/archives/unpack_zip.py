"""Unpacking a zip file of which nothing is believed."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib

from steelyard.archives.unpack_limits import MODE_MASK, UnpackLimits
from steelyard.archives.zip_layout import check_zip_layout, member_name
from steelyard.core.errors import ArchiveError

# RuntimeError: it is encrypted, or packed by a method that Python does not know.
_BLOCK_BYTES = 1 << 20
DAMAGED = (zipfile.BadZipFile, EOFError, zlib.error, ValueError, RuntimeError, struct.error)


def unpack_zip(archive: str, directory: str, limits: UnpackLimits | None = None) -> None:
    """Unpack a zip file into an empty directory.

    Raises
    ------
    ArchiveError
        It is damaged, or a member has no place in a source: a name that leads out, a link, an
        encrypted file, two of one name, more than the limits allow.
    """
    limits = limits or UnpackLimits(os.path.getsize(archive))
    with zipfile.ZipFile(archive) as file:
        if limits.is_strict:
            check_zip_layout(archive, file)
        for member in file.infolist():
            limits.add(member_name(member), member.file_size)
            _unpack_member(file, member, directory, limits)


def _unpack_member(
    file: zipfile.ZipFile, member: zipfile.ZipInfo, directory: str, limits: UnpackLimits
) -> None:
    mode = member.external_attr >> 16
    name = member_name(member)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError(f"its member {name!r} is neither a file nor a directory")
    if limits.is_strict and stat.S_IFMT(mode) and stat.S_ISDIR(mode) != member.is_dir():
        raise ArchiveError(f"its member {name!r} is a file and a directory at once")
    if not name:
        raise ArchiveError("one of its members has no name")
    path = limits.place(name, is_directory=member.is_dir())
    if not member.is_dir():
        limits.check_mode(name, mode)
    target = os.path.join(directory, path)
    if member.is_dir() or not path:
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # A member gives no more than the size that it states, so the limits hold.
    with file.open(member) as content, open(target, "xb") as made:
        while block := content.read(_BLOCK_BYTES):
            limits.check_size(0)  # How long it has taken.
            made.write(block)
        os.fchmod(made.fileno(), (mode & MODE_MASK) | 0o644)
