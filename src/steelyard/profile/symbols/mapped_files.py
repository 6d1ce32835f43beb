"""Files that processes had mapped: which one it was, and where it can be opened now.

Processes in other mount namespaces (containers) see other files under the same path, and a file may
have been replaced since. What is not the file that was mapped names nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from steelyard.profile.file.profile_file import Mapping
from steelyard.profile.symbols import debug_files
from steelyard.profile.symbols.debug_files import read_build_id

# What the kernel puts behind the path of a file that was removed.
_REMOVED = " (deleted)"


@dataclass(frozen=True)
class MappedFile:
    """A file as a process saw it.

    Parameters
    ----------
    path : str
    build_id : str
        Hexadecimal; empty where the file has none, or nobody knows.
    inode : int
        0 where it is not known.
    """

    path: str
    build_id: str = ""
    inode: int = 0


def mapped_file(mapping: Mapping) -> MappedFile:
    """The file that a mapping is of. Where there is a build id the inode says nothing more."""
    return MappedFile(mapping.path, mapping.build_id, 0 if mapping.build_id else mapping.inode)


def open_path(file: MappedFile, processes: Iterable[int]) -> str | None:
    """Where a file can be opened now; None: it is gone, or another one is in its place.

    Parameters
    ----------
    file : MappedFile
    processes : iterable of int
        Those that had it mapped: a file is opened as they see it, while they live.
    """
    processes = list(processes)
    seen = [f"/proc/{process}/root{file.path}" for process in processes]
    mapped = (path for process in processes for path in _still_mapped(process, file.path))
    candidates = chain((file.path, *seen, *_kept_by_build_id(file.build_id)), mapped)
    return next((path for path in candidates if _is_file(path, file)), None)


def _still_mapped(process: int, path: str) -> Iterator[str]:
    """Where the kernel shows a file that a process has mapped though it was removed, proc(5)."""
    plain = path.removesuffix(_REMOVED)
    yield f"/proc/{process}/exe"
    folder = f"/proc/{process}/map_files"
    with suppress(OSError):  # It has ended, or only root may look there.
        for name in os.listdir(folder):
            if os.readlink(f"{folder}/{name}").removesuffix(_REMOVED) == plain:
                yield f"{folder}/{name}"


def _kept_by_build_id(build_id: str) -> list[str]:
    """Where distributions link whole files by their build id."""
    if len(build_id) <= 2:
        return []
    return [os.path.join(debug_files.DEBUG_ROOT, ".build-id", build_id[:2], build_id[2:])]


def _is_file(path: str, wanted: MappedFile) -> bool:
    if not os.path.isfile(path):
        return False
    if wanted.build_id:
        return read_build_id(path) == wanted.build_id
    if not wanted.inode:
        return True  # Recordings of older versions do not say which it was.
    with suppress(OSError):
        return os.stat(path).st_ino == wanted.inode
    return False
