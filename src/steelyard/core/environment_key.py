"""Digests of values that only their user can compare with others: each user has a key."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from steelyard.core.hashing import sha256_of

KEY_BYTES = 32
_BLOCK_BYTES = 64
# 64 bits: two values of one variable do not meet by chance.
_DIGEST_DIGITS = 16
_KEY_NAME = "environment.key"


def keyed_digest(key: bytes, message: bytes) -> str:
    """The beginning of the HMAC-SHA256 (RFC 2104), made without loading OpenSSL."""
    padded = key.ljust(_BLOCK_BYTES, b"\0")
    inner = sha256_of(bytes(byte ^ 0x36 for byte in padded) + message)
    digest = sha256_of(bytes(byte ^ 0x5C for byte in padded) + inner)
    return digest.hex()[:_DIGEST_DIGITS]


def environment_key() -> bytes:
    """The user's key of digests, made where there is none; one for this call alone where it
    cannot be kept."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # The XDG specification: relative paths are to be ignored.
        state = os.path.expanduser("~/.local/state")
    path = os.path.join(state, "steelyard", _KEY_NAME)
    with suppress(OSError):
        return _kept_key(path)
    return os.urandom(KEY_BYTES)


def _kept_key(path: str) -> bytes:
    key = _read_key(path)
    if len(key) != KEY_BYTES:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        partial = f"{path}.{os.getpid()}.partial"
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, os.urandom(KEY_BYTES))
        finally:
            os.close(descriptor)
        # Two that make it at once agree on the first.
        with suppress(FileExistsError):
            os.link(partial, path)
        os.unlink(partial)
        key = _read_key(path)
    if len(key) != KEY_BYTES:
        raise OSError(errno.EINVAL, "no key", path)
    return key


def _read_key(path: str) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return b""
    try:
        return os.read(descriptor, KEY_BYTES)
    finally:
        os.close(descriptor)
