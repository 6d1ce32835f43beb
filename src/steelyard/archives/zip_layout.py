"""Whether a zip file says twice the same: in its directory and before each member.

Readers of zip files differ in which of the two they believe, so that one file can be two archives.
Overlapping members are how a zip file of 42 KB becomes one of 4.5 PB (D. Fifield, A better zip
bomb, WOOT 2019).
"""

from __future__ import annotations

import os
import struct
import zipfile
from typing import IO

from steelyard.core.errors import ArchiveError

# APPNOTE.TXT 6.3.10 of PKWARE, 4.3.7 and 4.3.16.
_LOCAL = struct.Struct("<4s5H3I2H")
_END = struct.Struct("<4s4H2IH")
_HAS_DESCRIPTOR, _IS_ENCRYPTED, _IS_UTF_8 = 0x8, 0x1, 0x800
_UNIX = 3
_IN_ZIP64 = 0xFFFFFFFF


def member_name(member: zipfile.ZipInfo) -> str:
    """The name of a member: of one that Unix wrote in UTF-8, whether or not it says so.

    Without the flag for UTF-8 Python takes names for those of DOS; Info-ZIP leaves it out where
    its locale is C.
    """
    if member.flag_bits & _IS_UTF_8 or member.create_system != _UNIX:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def check_zip_layout(path: str, file: zipfile.ZipFile) -> None:
    """Refuse a zip file that other readers may read otherwise.

    Raises
    ------
    ArchiveError
        Something stands before, between or behind its members and its directory, a name holds a
        zero byte, members overlap, or a member's own header disagrees with the directory.
    """
    members = sorted(file.infolist(), key=lambda member: member.header_offset)
    with open(path, "rb") as raw:
        _check_end(raw, file)
        ends = 0
        for member in members:
            if member.header_offset < ends:
                raise ArchiveError(f"its member {member.orig_filename!r} overlaps another")
            if not ends and member.header_offset:
                raise ArchiveError("something stands before its first member")
            ends = _check_local(raw, member)
        if ends > file.start_dir:
            raise ArchiveError(f"its member {members[-1].orig_filename!r} overlaps its directory")


def _check_end(raw: IO[bytes], file: zipfile.ZipFile) -> None:
    size = raw.seek(0, os.SEEK_END)
    begin = size - _END.size - len(file.comment)
    raw.seek(max(0, begin))
    found = raw.read(_END.size)
    if begin < 0 or len(found) < _END.size or not found.startswith(b"PK\5\6"):
        raise ArchiveError("something follows the end of the archive")


def _check_local(raw: IO[bytes], member: zipfile.ZipInfo) -> int:
    """Compare a member with its own header; where its data ends."""
    name = member.orig_filename
    if "\0" in name:
        raise ArchiveError(f"its member {name!r} has a name that no member may have")
    raw.seek(member.header_offset)
    header = raw.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
        raise ArchiveError(f"its member {name!r} is not where its directory says")
    fields = _LOCAL.unpack(header)
    flags, method, crc, packed, size, name_bytes, extra_bytes = (
        *(fields[2], fields[3]),
        *fields[6:11],
    )
    if (flags | member.flag_bits) & _IS_ENCRYPTED:
        raise ArchiveError(f"its member {name!r} is encrypted")
    own_name = raw.read(name_bytes)
    encoding = "utf-8" if flags & _IS_UTF_8 else "cp437"
    same = (
        own_name.decode(encoding, "replace") == name
        and (flags, method) == (member.flag_bits, member.compress_type)
        and (
            bool(flags & _HAS_DESCRIPTOR)
            or (
                crc == member.CRC
                and packed in (member.compress_size, _IN_ZIP64)
                and size in (member.file_size, _IN_ZIP64)
            )
        )
    )
    if not same:
        raise ArchiveError(f"its member {name!r} has a header that disagrees with the directory")
    return member.header_offset + _LOCAL.size + name_bytes + extra_bytes + member.compress_size
