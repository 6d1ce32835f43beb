"""Seeds: every random choice comes from one, and one seed gives one stream per purpose."""

from __future__ import annotations

import sys
from array import array

from steelyard.core.hashing import sha256_of

SEED_LIMIT = 2**63


def derive_seed(seed: int, *purpose: str | int) -> int:
    """A seed for one purpose, such as ``derive_seed(seed, "block", 3)``.

    Streams for different purposes are independent of each other and of the order in which
    they are asked for, so adding a random choice does not shift the others.
    """
    text = "/".join([str(seed), *(str(part) for part in purpose)])
    return int.from_bytes(sha256_of(text.encode())[:8], "big") % SEED_LIMIT


def random_words(seed: int, count: int, *purpose: str | int) -> array[int]:
    """So many independent whole numbers from 0 to 2**64 - 1, for one purpose.

    One stream of SHAKE-256: a million take some 20 ms.
    """
    from hashlib import shake_256

    text = "/".join([str(seed), *(str(part) for part in purpose)])
    words = array("Q", shake_256(text.encode()).digest(8 * count))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def shuffled(seed: int, count: int, *purpose: str | int) -> list[int]:
    """The numbers from 0 to `count` - 1 in an order drawn from the seed.

    Sorting by independent random keys gives every permutation with equal probability.
    """
    keys = random_words(seed, count, "shuffle", *purpose)
    return sorted(range(count), key=keys.__getitem__)


def fresh_seed() -> int:
    """A seed from the operating system, for a user who named none. It is stored."""
    import os

    return int.from_bytes(os.urandom(4), "big")
