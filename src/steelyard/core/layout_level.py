"""How a program that `steelyard cc` built is to be laid out: a level such as ``code,heap@5ms``."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.layout_parts import (
    DEFAULT_INTERVAL_NS,
    DEFAULT_PARTS,
    OFF,
    PARTS,
    UNITS_NS,
    interval_ns,
    ordered_parts,
)

# What the program's runtime reads (docs/layout.md).
PARTS_VARIABLE = "STEELYARD_LAYOUT"
INTERVAL_VARIABLE = "STEELYARD_LAYOUT_INTERVAL"
REPORT_VARIABLE = "STEELYARD_LAYOUT_REPORT"
ALL = "all"
NONE = "none"
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
        unit = "ms" if self.interval_ns % UNITS_NS["s"] else "s"
        return f"{self.interval_ns // UNITS_NS[unit]}{unit}"

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
