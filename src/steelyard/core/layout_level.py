"""How a program that `steelyard cc` built is to be laid out: a level such as ``code,heap@5ms``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# The bits of native/layout/format/table.hpp.
PARTS = {"code": 1, "stack": 2, "heap": 4, "blocks": 8}
DEFAULT_PARTS = ("code", "stack", "heap")
# What the program's runtime reads (docs/layout.md).
PARTS_VARIABLE = "STEELYARD_LAYOUT"
INTERVAL_VARIABLE = "STEELYARD_LAYOUT_INTERVAL"
REPORT_VARIABLE = "STEELYARD_LAYOUT_REPORT"
ALL = "all"
NONE = "none"
OFF = "off"
DEFAULT_INTERVAL_NS = 500_000_000  # the interval of Curtsinger and Berger, 2013, section 3.3
_UNITS_NS = {"ms": 1_000_000, "s": 1_000_000_000}
_WANTED = (
    f"it takes {NONE}, {ALL}, or some of {','.join(PARTS)}, and after an @ how often, such as "
    f"{ALL}@500ms or {ALL}@{OFF}"
)


@dataclass(frozen=True)
class LayoutLevel:
    """Which parts of a program's layout are randomised, and how often.

    Parameters
    ----------
    parts : tuple of str
        Some of `PARTS`, in their order.
    interval_ns : int
        0: once, at the start. Without parts it means nothing.
    """

    parts: tuple[str, ...]
    interval_ns: int = DEFAULT_INTERVAL_NS

    @property
    def parts_text(self) -> str:
        """The parts as the program's environment takes them."""
        return ",".join(self.parts) or NONE

    @property
    def interval_text(self) -> str:
        """The interval as the program's environment takes it."""
        if not self.parts or not self.interval_ns:
            return OFF
        unit = "ms" if self.interval_ns % _UNITS_NS["s"] else "s"
        return f"{self.interval_ns // _UNITS_NS[unit]}{unit}"

    def __str__(self) -> str:
        """The normal form, in which every part and the interval are written out."""
        return f"{self.parts_text}@{self.interval_text}" if self.parts else NONE


def layout_level(text: str) -> LayoutLevel:
    """The level that `text` names; without an interval, every 500 ms.

    Raises
    ------
    ValueError
        It is none; the message says what is wanted.
    """
    names, separator, interval = text.partition("@")
    if names == NONE and not separator:
        return LayoutLevel(())
    wanted = DEFAULT_PARTS if names == ALL else names.split(",")
    if any(name not in PARTS for name in wanted):
        raise ValueError(_WANTED)
    every_ns = interval_ns(interval) if separator else DEFAULT_INTERVAL_NS
    return LayoutLevel(ordered_parts(wanted), every_ns)


def ordered_parts(names: Iterable[str]) -> tuple[str, ...]:
    """Those parts that are among `names`, each once, in the order of `PARTS`.

    Basic blocks are parts of functions: with them, code moves.
    """
    named = set(names)
    if "blocks" in named:
        named.add("code")
    return tuple(part for part in PARTS if part in named)


def interval_ns(text: str) -> int:
    """An interval such as ``500ms`` or ``2s`` in nanoseconds, or ``off``: 0.

    Raises
    ------
    ValueError
        It is neither.
    """
    if text == OFF:
        return 0
    match = re.fullmatch(r"([1-9][0-9]*)(ms|s)", text)
    if match is None:
        raise ValueError(f"it takes a time such as 500ms or 2s, or {OFF}")
    return int(match[1]) * _UNITS_NS[match[2]]
