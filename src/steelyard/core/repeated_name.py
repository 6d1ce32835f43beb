"""Which of many names is there twice, in one pass: a file of 1 MB may have 100,000 names."""

from __future__ import annotations

from collections.abc import Sequence


def repeated_name(names: Sequence[str]) -> str | None:
    """The first name that was there before; None where all differ."""
    place = repeated_place(names)
    return None if place is None else names[place]


def repeated_place(names: Sequence[str]) -> int | None:
    """The place of the first name that was there before; None where all differ."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            return place
        seen.add(name)
    return None
