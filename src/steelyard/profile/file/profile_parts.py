"""Which files belong to one profile: long recordings go on in FILE.1, FILE.2 ..."""

from __future__ import annotations

import os
import re

from steelyard.core.decoding import regular_opener

MAGIC = b"STEELYARD-PROFILE 1\n"
_CONTINUATION = re.compile("[1-9][0-9]{0,8}")


def _is_profile(path: str) -> bool:
    """Whether a file begins as a profile does."""
    try:
        with open(path, "rb", opener=regular_opener) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def parts_of(path: str) -> list[str]:
    """The file and those that it may have been continued in, of which the oldest may be gone; the
    first one is of the recording that is asked for."""
    folder, name = os.path.split(path)
    try:
        entries = os.listdir(folder or ".")
    except OSError:
        entries = []
    numbers = sorted(
        int(entry[len(name) + 1 :])
        for entry in entries
        if entry.startswith(name + ".") and _CONTINUATION.fullmatch(entry[len(name) + 1 :])
    )
    later = [part for number in numbers if _is_profile(part := f"{path}.{number}")]
    if os.path.exists(path) or not later:
        return [path, *later]
    # The first file was not kept: the recording is the one that was written last.
    last = max(later, key=os.path.getmtime)
    return [last, *(part for part in later if part != last)]
