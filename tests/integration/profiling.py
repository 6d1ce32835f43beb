"""Commands that take samples, and what counts of samples may be asked for."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binom

from tests.integration.conftest import Told, User

# What is as rare as this does not make tests fail that are run every day for centuries.
RARELY = 1e-8
# How a command ends where the machine lacks what it needs.
NO_SAMPLES = 4


def sampled(user: User, *words: str, status: int = 0) -> Told:
    """`steelyard profile` with these words; skips where the machine gives no samples."""
    told = user.types("profile", *words)
    if told.status == NO_SAMPLES:
        pytest.skip(f"this machine gives no samples: {told.err}")
    assert told.status == status, told.err
    return told


def samples_of(document: dict[str, Any]) -> dict[str, int]:
    """The samples of each function in the document of a profile."""
    return {item["name"]: item["samples"] for item in document["functions"]}


def fewest(count: int, share: float) -> int:
    """Of `count` samples, each of which is one of a function's with this chance, so many are.

    Fewer are seen once in a hundred million times. It counts samples and no time: how many there
    are in a second is the machine's, and how busy it is. A share is best said of functions that
    take turns, and smaller than it is, since what else runs may hold up one more than the other.
    """
    return int(binom.ppf(RARELY, count, share))
