"""Unpacking a zip file of which nothing is believed."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import zipfile
import zlib

from steelyard.core.errors import SuiteError
from steelyard.suite.unpack_limits import MODE_MASK, UnpackLimits, inside

# RuntimeError: it is encrypted, or packed by a method that Python does not know.
DAMAGED = (zipfile.BadZipFile, EOFError, zlib.error, ValueError, RuntimeError, struct.error)


def unpack_zip(archive: str, directory: str, limits: UnpackLimits | None = None) -> None:
    """Unpack a zip file into an empty directory.

    Raises
    ------
    SuiteError
        It is damaged, or a member has no place in a source: a name that leads out, a link, an
        encrypted file, two of one name, more than the limits allow.
    """
    limits = limits or UnpackLimits(os.path.getsize(archive))
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            limits.add(member.filename, member.file_size)
            _unpack_member(file, member, directory)


def _unpack_member(file: zipfile.ZipFile, member: zipfile.ZipInfo, directory: str) -> None:
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise SuiteError(f"its member {member.filename!r} is neither a file nor a directory")
    if not member.filename:
        raise SuiteError("one of its members has no name")
    path = inside(member.filename)
    target = os.path.join(directory, path)
    if member.is_dir() or not path:
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # A member gives no more than the size that it states, so the limits hold.
    with file.open(member) as content, open(target, "xb") as made:
        shutil.copyfileobj(content, made)
        os.fchmod(made.fileno(), (mode & MODE_MASK) | 0o644)
