"""Frames of code that is a copy of other code, whose entries in the frame table are copied."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CopiedFrame:
    """The frame of a copy of code that the tables know.

    Parameters
    ----------
    start : int
        Where the copy begins.
    byte_count : int
        As long as what it is of.
    original : int
        Where that begins.
    changes : tuple of (int, bytes)
        What is other in its entry: offsets in the section, of the entry of the original.
    """

    start: int
    byte_count: int
    original: int
    changes: tuple[tuple[int, bytes], ...] = ()


@dataclass(frozen=True)
class FrameEntry:
    """An entry of the table.

    Parameters
    ----------
    begin, end : int
        In the section.
    common : int
        Where the entry begins that it shares with others.
    code_bytes : int
    handlers : int
        Address of what the language has for exceptions (LSDA); 0: nothing.
    places : tuple of (int, int)
        Offsets and sizes of pointers that depend on their place.
    """

    begin: int
    end: int
    common: int
    code_bytes: int
    handlers: int
    places: tuple[tuple[int, int], ...]
