"""A program to study a machine with: ``python -m steelyard.host.study_program``.

It computes, walks through memory, sorts, compresses, and writes and reads a file in its working
directory, always the same, for about half a second.
"""

from __future__ import annotations

import hashlib
import os
import zlib

_SEED = b"steelyard"
_BLOCKS = 60_000
_STRIDE = 7919  # A prime: every element is visited, far from the one before.
_FILE = "steelyard-study.tmp"


def main() -> None:
    """Do all of it once."""
    digest = hashlib.sha256(_SEED)
    words: list[bytes] = []
    for _ in range(_BLOCKS):
        digest.update(digest.digest())
        words.append(digest.digest())
    total = 0
    for place in range(_BLOCKS):
        total ^= words[place * _STRIDE % _BLOCKS][0]
    words.sort()
    packed = zlib.compress(b"".join(words), 1)
    with open(_FILE, "wb") as file:
        file.write(packed)
    with open(_FILE, "rb") as file:
        zlib.decompress(file.read())
    os.unlink(_FILE)


if __name__ == "__main__":
    main()
