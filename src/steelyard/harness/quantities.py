"""Units of harnesses, brought to ours: seconds, bytes, counts and rates."""

from __future__ import annotations

# SI and what the harnesses write: Google Benchmark's time_unit, JMH's TimeUnit, criterion's unit.
SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "hr": 3600.0,
    "day": 86400.0,
}
BYTES = {
    "B": 1.0,
    "byte": 1.0,
    "bytes": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
}


def base_unit(unit: str) -> tuple[float, str]:
    """The factor to multiply by, and our unit; a unit that is not known stays as it is."""
    if unit in SECONDS:
        return SECONDS[unit], "s"
    if unit in BYTES:
        return BYTES[unit], "bytes"
    if unit in ("", "integer", "count", "#"):
        return 1.0, "count"
    return 1.0, unit
