"""Reads what Python's `marshal` wrote, without `marshal`, which trusts what it reads.

A length that a file claims takes no memory here before the bytes are there, code and other kinds of
objects are refused, and nothing that is read is ever run. The format is that of Python/marshal.c of
CPython 3.11, which `pstats.Stats.dump_stats` and `cProfile` write with.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

# A table of cProfile nests three deep; a file can nest until the stack of Python ends.
DEEPEST = 8
# Set in the byte of the type where later objects may refer to this one.
_REFERENCED = 0x80
# Digits of `TYPE_LONG` have 15 bits.
_DIGIT_BITS = 15
# Digits of the longest whole number: that of 64 bits has 5.
_MOST_DIGITS = 64
# Bytes of a text: PATH_MAX of Linux. A file can refer to one text from each of its rows.
LONGEST_TEXT_BYTES = 4096
_NOTHING = object()


class _Reader:
    """Reads one value from the start of `data` on; a `ValueError` says what is wrong."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._known: list[Any] = []

    def value(self, depth: int = 0) -> Any:
        """The value that begins here."""
        if depth > DEEPEST:
            raise ValueError("it nests too deep")
        code = self._take(1)[0]
        kind = chr(code & ~_REFERENCED)
        if kind == "r":
            return self._reference()
        read = _READERS.get(kind)
        if read is None:
            raise ValueError(f"it holds an object of the type {kind!r}, which no profile has")
        place = None
        if code & _REFERENCED:
            place = len(self._known)
            self._known.append(_NOTHING)
        found = read(self, depth)
        # A table cannot be referred to: a file of some bytes would hold any number of its copies.
        if place is not None and not isinstance(found, dict):
            self._known[place] = found
        return found

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if count < 0 or end > len(self._data):
            raise ValueError("it is cut off")
        found = self._data[self._at : end]
        self._at = end
        return found

    def number(self) -> int:
        """A whole number of four bytes with a sign."""
        return struct.unpack("<i", self._take(4))[0]

    def _reference(self) -> Any:
        place = self.number()
        found = self._known[place] if 0 <= place < len(self._known) else _NOTHING
        if found is _NOTHING:
            raise ValueError(f"it refers to object {place}, which is none")
        return found

    def text(self, length: int, encoding: str) -> str:
        """A text of `length` bytes; a `UnicodeDecodeError` is a `ValueError`."""
        if length > LONGEST_TEXT_BYTES:
            raise ValueError(f"a text has more than {LONGEST_TEXT_BYTES} bytes")
        return self._take(length).decode(encoding, "surrogatepass")

    def long_text(self, encoding: str) -> str:
        """A text behind its length in four bytes."""
        return self.text(self.number(), encoding)

    def short_text(self) -> str:
        """A text behind its length in one byte."""
        return self.text(self._take(1)[0], "latin-1")

    def whole(self) -> int:
        """A whole number in digits of 15 bits, whose count has the sign."""
        count = self.number()
        if abs(count) > _MOST_DIGITS:
            raise ValueError("a number has too many digits")
        digits = struct.unpack(f"<{abs(count)}H", self._take(2 * abs(count)))
        size = sum(digit << (_DIGIT_BITS * place) for place, digit in enumerate(digits))
        return size if count >= 0 else -size

    def double(self) -> float:
        """An IEEE 754 double."""
        return struct.unpack("<d", self._take(8))[0]

    def short_tuple(self, depth: int) -> tuple[Any, ...]:
        """A tuple behind its length in one byte."""
        return tuple(self.value(depth + 1) for _ in range(self._take(1)[0]))

    def long_tuple(self, depth: int) -> tuple[Any, ...]:
        """A tuple behind its length in four bytes: each item takes one at least."""
        count = self.number()
        if not 0 <= count <= len(self._data) - self._at:
            raise ValueError("it is cut off")
        return tuple(self.value(depth + 1) for _ in range(count))

    def table(self, depth: int) -> dict[Any, Any]:
        """Keys and values in turn, up to the mark of the end in the place of a key."""
        found: dict[Any, Any] = {}
        while self._data[self._at : self._at + 1] != b"0":
            key = self.value(depth + 1)
            value = self.value(depth + 1)
            if not _is_key(key) or key in found:
                raise ValueError("a table has a key twice, or one of tables")
            found[key] = value
        self._at += 1
        return found


def _is_key(value: Any) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return all(isinstance(item, str | int | float) for item in items)


_READERS: dict[str, Callable[[_Reader, int], Any]] = {
    "N": lambda _reader, _depth: None,
    "T": lambda _reader, _depth: True,
    "F": lambda _reader, _depth: False,
    "i": lambda reader, _depth: reader.number(),
    "l": lambda reader, _depth: reader.whole(),
    "g": lambda reader, _depth: reader.double(),
    "u": lambda reader, _depth: reader.long_text("utf-8"),
    "t": lambda reader, _depth: reader.long_text("utf-8"),
    "a": lambda reader, _depth: reader.long_text("latin-1"),
    "A": lambda reader, _depth: reader.long_text("latin-1"),
    "z": lambda reader, _depth: reader.short_text(),
    "Z": lambda reader, _depth: reader.short_text(),
    ")": _Reader.short_tuple,
    "(": _Reader.long_tuple,
    "{": _Reader.table,
}


def read_marshalled(data: bytes) -> Any:
    """The value that `data` begins with: texts, numbers, tuples and tables of them.

    Raises
    ------
    ValueError
        It is cut off, damaged, nests deeper than `DEEPEST`, or holds an object of another kind.
    """
    return _Reader(data).value()
