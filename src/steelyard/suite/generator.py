"""What makes the programs' inputs: deterministic streams of choices, and the built-in makers.

Nothing here rests on the `random` module, whose sequences may change with the version of Python:
all choices come from SHAKE-256 of the seed, so that an input is the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
Value = int | float | str | bool
_REFILL_COUNT = 1 << 14


class Stream:
    """Endless uniform choices from a seed.

    Parameters
    ----------
    seed : int
    purpose : str
        Streams of one seed for different purposes are independent.
    """

    def __init__(self, seed: int, purpose: str = "") -> None:
        self._key = f"{seed}/{purpose}".encode()
        self._blocks = 0
        self._words = array("I")
        self._next = 0

    def numbers(self, count: int) -> Sequence[int]:
        """`count` uniform whole numbers below 2**32."""
        return self._drawn("I", count)

    def short_numbers(self, count: int) -> Sequence[int]:
        """`count` uniform whole numbers below 2**16."""
        return self._drawn("H", count)

    def data(self, count: int) -> bytes:
        """`count` uniform bytes."""
        self._blocks += 1
        return hashlib.shake_256(b"%b/%d" % (self._key, self._blocks)).digest(count)

    def _drawn(self, code: str, count: int) -> array[int]:
        found = array(code)
        found.frombytes(self.data(count * found.itemsize))
        if sys.byteorder == "big":
            found.byteswap()
        return found

    def number(self) -> int:
        """One uniform whole number below 2**32."""
        if self._next == len(self._words):
            self._words, self._next = self._drawn("I", _REFILL_COUNT), 0
        self._next += 1
        return self._words[self._next - 1]

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1; `limit` is small against 2**32."""
        return self.number() * limit >> 32

    def share(self) -> float:
        """A number from 0 to below 1."""
        return self.number() / 2**32

    def pick(self, items: Sequence[T]) -> T:
        """One of some items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """The items in a random order (Fisher and Yates)."""
        found = list(items)
        for last in range(len(found) - 1, 0, -1):
            other = self.below(last + 1)
            found[last], found[other] = found[other], found[last]
        return found


@dataclass(frozen=True)
class Generator:
    """A built-in maker of inputs.

    Parameters
    ----------
    name : str
        What recipes call it.
    description : str
        What it makes.
    parameters : mapping of name to default
        What a recipe may say; a value given must be of the default's type.
    make : callable
        From a seed and the parameters to the pieces of the file.
    """

    name: str
    description: str
    make: Callable[[int, Mapping[str, Value]], Iterable[bytes]]
    parameters: Mapping[str, Value] = field(default_factory=dict[str, Value])


def cut(pieces: Iterable[bytes], size_bytes: int) -> Iterable[bytes]:
    """The first `size_bytes` of an endless file."""
    left = size_bytes
    for piece in pieces:
        if len(piece) >= left:
            yield piece[:left]
            return
        left -= len(piece)
        yield piece
