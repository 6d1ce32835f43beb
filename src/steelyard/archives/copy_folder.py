"""Copying a folder as if it were an archive: with the same limits, names and links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from steelyard.archives.member_links import MemberLinks
from steelyard.archives.unpack_limits import MODE_MASK, UnpackLimits
from steelyard.core.errors import ArchiveError

# What a repository keeps for itself is no part of what it holds.
LEFT_OUT = (".git",)
_BLOCK_BYTES = 1 << 20


def copy_folder(folder: str, directory: str, limits: UnpackLimits) -> None:
    """Copy the files, folders and links of `folder` into an empty directory.

    Raises
    ------
    ArchiveError
        A member has no place in an archive: a device, a FIFO, a socket, a link that leads out, a
        name or a size that `limits` refuses.
    OSError
        It cannot be read or written.
    """
    links = MemberLinks(directory)
    for entry, name in _entries(folder, ""):
        about = entry.stat(follow_symlinks=False)
        limits.add(name, about.st_size if stat.S_ISREG(about.st_mode) else 0)
        path = limits.place(name, is_directory=stat.S_ISDIR(about.st_mode))
        if stat.S_ISDIR(about.st_mode):
            os.makedirs(links.free(path), exist_ok=True)
        elif stat.S_ISLNK(about.st_mode):
            links.add(path, os.readlink(entry.path))
        elif stat.S_ISREG(about.st_mode):
            limits.check_mode(name, about.st_mode)
            _copy_file(entry.path, links.free(path), limits, about.st_size)
        else:
            raise ArchiveError(f"its member {name!r} is neither a file nor a directory")
    links.make()


def _entries(folder: str, above: str) -> Iterator[tuple[os.DirEntry[str], str]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if not above and entry.name in LEFT_OUT:
            continue
        name = f"{above}{entry.name}"
        yield entry, name
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path, f"{name}/")


def _copy_file(source: str, target: str, limits: UnpackLimits, size_bytes: int) -> None:
    # It may have become a link or a FIFO since it was looked at.
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as content, open(target, "xb") as made:
        about = os.fstat(content.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ArchiveError(f"{source!r} became something else while it was read")
        left = size_bytes
        while left > 0 and (block := content.read(min(left, _BLOCK_BYTES))):
            limits.check_size(0)  # How long it has taken.
            made.write(block)
            left -= len(block)
        os.fchmod(made.fileno(), (about.st_mode & MODE_MASK) | 0o644)
