"""Levels that are a name, or ``random:N`` with a seed."""

from __future__ import annotations

from collections.abc import Callable

_RANDOM = "random:"


def seeded_level(*names: str) -> Callable[[str], str]:
    """Checks a level that is one of `names`, or ``random:N``."""

    def normal(text: str) -> str:
        if text in names:
            return text
        seed = text.removeprefix(_RANDOM)
        if not text.startswith(_RANDOM) or not seed.isdigit():
            raise ValueError(f"it takes {', '.join(names)} or random:N with a whole number N")
        return f"{_RANDOM}{int(seed)}"

    return normal


def numbered_seed(level: str) -> int:
    """The seed in ``random:N``."""
    return int(level.removeprefix(_RANDOM))
