"""Seeds: every random choice comes from one, and one seed gives one stream per purpose."""

from __future__ import annotations

from steelyard.core.hashing import sha256_of

SEED_LIMIT = 2**63


def derive_seed(seed: int, *purpose: str | int) -> int:
    """A seed for one purpose, such as ``derive_seed(seed, "block", 3)``.

    Streams for different purposes are independent of each other and of the order in which
    they are asked for, so adding a random choice does not shift the others.
    """
    text = "/".join([str(seed), *(str(part) for part in purpose)])
    return int.from_bytes(sha256_of(text.encode())[:8], "big") % SEED_LIMIT


def fresh_seed() -> int:
    """A seed from the operating system, for a user who named none. It is stored."""
    import os

    return int.from_bytes(os.urandom(4), "big")
