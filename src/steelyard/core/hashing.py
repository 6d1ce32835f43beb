"""SHA-256 without loading OpenSSL, which takes longer than measuring a short program ten times.

CPython's own `random` module does the same. Large files are worth OpenSSL's faster code.
"""

from __future__ import annotations

import os
from functools import cache
from io import BufferedReader
from typing import Any

# OpenSSL takes 4 ms to load and then hashes three times as fast.
_WORTH_OPENSSL_BYTES = 1 << 20


@cache
def _built_in() -> Any:
    """The constructor. Found once: looking for a module that is not there takes longer than
    hashing."""
    try:
        from _sha2 import sha256  # pyright: ignore
    except ImportError:
        try:
            from _sha256 import sha256  # pyright: ignore
        except ImportError:
            from hashlib import sha256
    return sha256  # pyright: ignore


def sha256_of(data: bytes) -> bytes:
    """The SHA-256 digest of some bytes."""
    return _built_in()(data).digest()


def sha256_hex_of_file(file: BufferedReader) -> str:
    """The SHA-256 digest of a file that is open for reading, from its beginning, in hexadecimal."""
    file.seek(0)
    if os.fstat(file.fileno()).st_size <= _WORTH_OPENSSL_BYTES:
        return _built_in()(file.read()).hexdigest()
    import hashlib

    return hashlib.file_digest(file, "sha256").hexdigest()
