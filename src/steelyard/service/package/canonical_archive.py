"""A package that is kept, as a tar file that is the same wherever it is made."""

from __future__ import annotations

import os
import tarfile
from typing import IO

from steelyard.service.package.archive import MEMBER_UNIX_S, Member, package_in


def write_archive(folder: str, target: IO[bytes]) -> None:
    """Write the package whose files lie in `folder` as a plain tar file.

    Raises
    ------
    OSError
        A file cannot be read, or the target not be written.
    """
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for member in package_in(folder).members:
            about = _about(member)
            if member.kind != "file":
                archive.addfile(about)
                continue
            with open(os.path.join(folder, member.path), "rb") as file:
                archive.addfile(about, file)


def _about(member: Member) -> tarfile.TarInfo:
    about = tarfile.TarInfo(member.path)
    about.mtime = MEMBER_UNIX_S
    if member.kind == "folder":
        about.type, about.mode = tarfile.DIRTYPE, 0o755
    elif member.kind == "link":
        about.type, about.linkname, about.mode = tarfile.SYMTYPE, member.content, 0o777
    else:
        about.size = member.size_bytes
        about.mode = 0o755 if member.is_executable else 0o644
    return about
