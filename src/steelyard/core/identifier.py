"""Identifiers of experiments: ULIDs, which sort by the time of their making."""

from __future__ import annotations

import os

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26


def encode_ulid(milliseconds: int, randomness: bytes) -> str:
    """The 26 characters of a ULID from 48 bits of time and 80 bits of randomness."""
    number = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(randomness, "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def new_identifier(milliseconds: int) -> str:
    """A new identifier for an experiment that starts at `milliseconds` since the epoch."""
    return encode_ulid(milliseconds, os.urandom(10))


def is_identifier(text: str) -> bool:
    """Whether `text` has the form of an identifier."""
    return len(text) == LENGTH and all(character in _ALPHABET for character in text)
