"""Passwords as scrypt (RFC 7914) keeps them: slow to guess, and in much memory."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import unicodedata

from steelyard.core.errors import UsageError

# The OWASP Password Storage Cheat Sheet's least for scrypt with 32 MiB: N = 2^15, r = 8, p = 3.
_LOG_COST, _BLOCK, _PARALLEL = 15, 8, 3
_SALT_BYTES, _KEY_BYTES = 16, 32
_MOST_MEMORY_BYTES = 64 << 20
SHORTEST, LONGEST = 12, 200
# Each takes 32 MiB and a third of a second: whoever signs in waits, and pages do not.
_AT_ONCE = threading.BoundedSemaphore(2)


def kept_password(password: str) -> str:
    """What a database keeps of a password: the parameters, a salt and the key.

    Raises
    ------
    UsageError
        It is too short, or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsageError(
            f"A password has {SHORTEST} to {LONGEST} characters, not {len(password)}.",
            field="password",
        )
    salt = secrets.token_bytes(_SALT_BYTES)
    key = _key(password, salt, _LOG_COST, _BLOCK, _PARALLEL)
    words = (base64.b64encode(each).decode() for each in (salt, key))
    return "$".join(("scrypt", str(_LOG_COST), str(_BLOCK), str(_PARALLEL), *words))


def is_password(password: str, kept: str) -> bool:
    """Whether it is the password of which `kept` is kept; as slow where nothing is kept."""
    # One that is too long is none, and is not worth its time.
    password = password[: LONGEST + 1]
    if not kept:
        _key(password, bytes(_SALT_BYTES), _LOG_COST, _BLOCK, _PARALLEL)
        return False
    _, cost, block, parallel, salt, key = kept.split("$")
    found = _key(password, base64.b64decode(salt), int(cost), int(block), int(parallel))
    return secrets.compare_digest(found, base64.b64decode(key))


def _key(password: str, salt: bytes, log_cost: int, block: int, parallel: int) -> bytes:
    # One keyboard sends a letter and its accent as one character, another as two.
    text = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    with _AT_ONCE:
        return hashlib.scrypt(
            text,
            salt=salt,
            n=1 << log_cost,
            r=block,
            p=parallel,
            maxmem=_MOST_MEMORY_BYTES,
            dklen=_KEY_BYTES,
        )
