"""Units of measured values and how people read them."""

from __future__ import annotations

# Squares of larger values, and sums of them, are beyond the range of floats; nothing measured is.
LARGEST_VALUE = 1e150
# The end of the year 9999: later ones have no date, and are mostly times in another unit.
LAST_UNIX_S = 253_402_300_799.0
# What SQLite and Parquet hold.
LARGEST_WHOLE = 2**63 - 1

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def scale_for(value: float, unit: str) -> tuple[float, str]:
    """The factor to divide by and the unit to print for values near `value`."""
    ladder = {"s": _SECONDS, "bytes": _BYTES, "count": _COUNTS}.get(unit)
    if ladder is None:
        return 1.0, unit
    for factor, name in ladder:
        if abs(value) >= factor:
            return factor, name
    return ladder[-1] if unit != "s" or value != 0 else ladder[0]


def format_value(value: float, unit: str, digits: int = 4) -> str:
    """`value` with a readable unit and `digits` significant digits, such as ``12.35 ms``."""
    factor, name = scale_for(value, unit)
    scaled = value / factor
    whole = len(str(int(abs(scaled)))) if scaled else 1
    text = f"{scaled:.{max(0, digits - whole)}f}"
    return f"{text} {name}".rstrip()


def format_duration(seconds: float) -> str:
    """A duration for people: ``850 ms``, ``12.3 s``, ``4 min 05 s``, ``2 h 10 min``."""
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02d} min"
