"""Whether a file may say what is done with a user's rights: it is theirs, and so is its place."""

from __future__ import annotations

import os
import stat

from steelyard.core.errors import HostError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def check_trusted(fd: int, path: str) -> None:
    """Refuse an open file that another user has made or may have changed.

    It must be a plain file with one name, owned by this user and written by no other. For root,
    each directory above it must be root's, and written by others only if it is sticky, where
    nobody replaces another's file.

    Raises
    ------
    HostError
        It is not so; the message says what was found and how to mend it.
    """
    status = os.fstat(fd)
    user = os.geteuid()
    reason = None
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        reason = "it is not a plain file with one name"
    elif status.st_uid != user:
        reason = f"it belongs to user {status.st_uid}, not to user {user}"
    elif status.st_mode & (_OTHERS_WRITE if user == 0 else stat.S_IWOTH):
        reason = f"others may write it (mode {stat.S_IMODE(status.st_mode):04o})"
    elif user == 0:
        reason = _untrusted_place(path)
    if reason is not None:
        raise HostError(
            f"The host journal {path} is not trusted: {reason}. What it says is done with your "
            "rights, so nothing was done. Move it away if it is not yours."
        )


def _untrusted_place(path: str) -> str | None:
    place = os.path.dirname(os.path.realpath(path))
    while True:
        status = os.stat(place)
        if status.st_uid != 0:
            return f"its directory {place} belongs to user {status.st_uid}"
        if status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
            return f"others may write its directory {place}"
        if place == os.path.dirname(place):
            return None
        place = os.path.dirname(place)
