"""The file system of the working directory."""

from __future__ import annotations

import re

from steelyard.factors.host_levels import host_factor


def _normal(text: str) -> str:
    if text != "as-is" and not re.fullmatch(r"[a-z][a-z0-9]*", text):
        raise ValueError("it takes as-is or a file system such as tmpfs, ext4 or btrfs")
    return text


EXTENSION = host_factor(
    "filesystem",
    "The file system of the working directory: as-is, tmpfs, ramfs, or one that is made in a "
    "file and mounted, such as ext4.",
    _normal,
)
