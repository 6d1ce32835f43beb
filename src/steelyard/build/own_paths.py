"""Whether a build holds the path at which it lies, so that it may fail elsewhere."""

from __future__ import annotations

import os


def holds_path(directory: str, path: str) -> str:
    """The first file of a directory, or target of a link, that holds the text `path`, by its name
    there; empty where none does. A program may look there for what it needs."""
    wanted = os.fsencode(path)
    for folder, folders, files in os.walk(directory):
        for name in sorted((*folders, *files)):
            full = os.path.join(folder, name)
            if os.path.islink(full):
                found = wanted in os.fsencode(os.readlink(full))
            else:
                found = os.path.isfile(full) and _holds(full, wanted)
            if found:
                return os.path.relpath(full, directory)
    return ""


def _holds(path: str, wanted: bytes) -> bool:
    """Whether a file holds some bytes, wherever its blocks are cut."""
    kept = b""
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            if wanted in kept + block:
                return True
            kept = block[-len(wanted) + 1 :] if len(wanted) > 1 else b""
    return False
