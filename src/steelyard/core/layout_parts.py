"""The parts of a program's layout, and how often they are drawn.

The compiler drivers load this at each call, so it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The bits of native/layout/format/table.hpp.
PARTS = {"code": 1, "stack": 2, "heap": 4, "blocks": 8}
DEFAULT_PARTS = ("code", "stack", "heap")
OFF = "off"
DEFAULT_INTERVAL_NS = 500_000_000  # the interval of Curtsinger and Berger, 2013, section 3.3
UNITS_NS = {"ms": 1_000_000, "s": 1_000_000_000}


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
    unit = "ms" if text.endswith("ms") else "s"
    digits = text.removesuffix(unit)
    plain = digits.isascii() and digits.isdecimal() and not digits.startswith("0")
    if digits == text or not plain:
        raise ValueError(f"it takes a time such as 500ms or 2s, or {OFF}")
    return int(digits) * UNITS_NS[unit]
