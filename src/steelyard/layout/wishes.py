"""What of a program's layout is to be randomised, how often, and from which seed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steelyard.core.errors import UsageError

# The bits of native/layout/format/table.hpp.
PARTS = {"code": 1, "stack": 2, "heap": 4}
DEFAULT_INTERVAL_NS = 500_000_000  # the interval of Curtsinger and Berger, 2013, section 3.3
_UNITS_NS = {"ms": 1_000_000, "s": 1_000_000_000}


@dataclass(frozen=True)
class LayoutWishes:
    """What a program does when the environment says nothing else.

    Parameters
    ----------
    parts : tuple of str
        Some of `PARTS`.
    interval_ns : int
        How often the layout is drawn anew; 0: once, at the start.
    seed : int
        0: another one in each run.
    """

    parts: tuple[str, ...] = tuple(PARTS)
    interval_ns: int = DEFAULT_INTERVAL_NS
    seed: int = 0

    @property
    def mask(self) -> int:
        """The parts as the native side knows them."""
        return sum(PARTS[part] for part in self.parts)


def parse_parts(text: str) -> tuple[str, ...]:
    """The parts named in ``code,stack,heap``, in this order; ``none`` is none of them.

    Raises
    ------
    UsageError
        One of them is no part.
    """
    names = [name for name in text.split(",") if name and name != "none"]
    for name in names:
        if name not in PARTS:
            raise UsageError(
                f"--layout takes some of {','.join(PARTS)}, or none; {name!r} is none of them.",
                field="--layout",
            )
    return tuple(part for part in PARTS if part in names)


def parse_interval(text: str) -> int:
    """An interval such as ``500ms`` or ``2s`` in nanoseconds, or ``off``: 0.

    Raises
    ------
    UsageError
        It is neither.
    """
    if text == "off":
        return 0
    match = re.fullmatch(r"([1-9][0-9]*)(ms|s)", text)
    if match is None:
        raise UsageError(
            f"--layout-interval takes a time such as 500ms or 2s, or off; not {text!r}.",
            field="--layout-interval",
        )
    return int(match[1]) * _UNITS_NS[match[2]]


def parse_seed(text: str) -> int:
    """A seed: a whole number above 0.

    Raises
    ------
    UsageError
        It is none.
    """
    if not text.isdecimal() or not 0 < int(text) < 1 << 64:
        raise UsageError(
            f"--layout-seed takes a whole number above 0; not {text!r}.", field="--layout-seed"
        )
    return int(text)
