"""A reader of foreign files, and what must hold of the errors that it ends in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# What failed and the value found; what is accepted; the command that mends it (STYLE).
MESSAGE_LINES = 3
# A message that repeats a file of 1 MB is not clear.
LINE_CHARACTERS = 1000


def check_message(message: str) -> None:
    """Hold that an error is one that a person can read.

    Raises
    ------
    RuntimeError
        It is empty, has more lines than what failed, what is wanted and what mends it, or a line
        that nobody reads to its end.
    """
    lines = message.split("\n")
    is_clear = len(lines) <= MESSAGE_LINES and all(line.strip() for line in lines)
    if not is_clear or max(map(len, lines)) > LINE_CHARACTERS:
        raise RuntimeError(f"no message of a few lines: {message[:3000]!r}")


@dataclass(frozen=True)
class Reader:
    """A reader with files to begin from.

    Parameters
    ----------
    read : callable
        Takes a file's path. Fails by an assertion where what was read cannot be.
    seeds : sequence of bytes
        Files that it reads.
    name : str
        Of the file, where the reader asks for one.
    """

    read: Callable[[str], None]
    seeds: tuple[bytes, ...]
    name: str = "input"
