"""Quantities as people write them: ``2%``, ``1.5min``, ``200runs``, ``64M``."""

from __future__ import annotations

from steelyard.core.errors import UsageError
from steelyard.core.units import LARGEST_VALUE

_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _split(text: str) -> tuple[str, str]:
    stripped = text.strip()
    cut = len(stripped)
    while cut and not (stripped[cut - 1].isdigit() or stripped[cut - 1] == "."):
        cut -= 1
    return stripped[:cut], stripped[cut:].strip()


def parse_ratio(text: str, field: str) -> float:
    """A ratio from ``2%`` or ``0.02``; it must lie above 0 and below 1.

    Raises
    ------
    UsageError
        With `field` in it, when it is not a number or out of range.
    """
    number, unit = _split(text)
    try:
        value = float(number) / (100.0 if unit == "%" else 1.0)
    except ValueError:
        value = -1.0
    if unit not in ("", "%") or not 0.0 < value < 1.0:
        raise UsageError(
            f"{field} takes a share such as 1% or 0.01, above 0 and below 100%; it got {text!r}.",
            field=field,
        )
    return value


def parse_share(value: object, field: str, otherwise: str = "") -> float:
    """A share from 0 to 1, from ``75%`` or ``0.75``; unlike of a ratio, 0 % and 100 % are some.

    Raises
    ------
    UsageError
        With `field` in it, and what it takes `otherwise`, when it is none.
    """
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        number = -1.0
    if type(value) not in (str, int, float) or not 0.0 <= number <= 1.0:
        raise UsageError(
            f"{field} takes a share from 0% to 100%{otherwise}; it got {value!r}.", field=field
        )
    return number


def parse_duration(text: str, field: str) -> float:
    """Seconds from ``500ms``, ``30s``, ``2min``, ``1h`` or a bare number of seconds."""
    number, unit = _split(text)
    try:
        value = float(number) * _SECONDS[unit or "s"]
    except (ValueError, KeyError):
        value = -1.0
    if not 0.0 < value <= LARGEST_VALUE:
        raise UsageError(
            f"{field} takes a time such as 500ms, 30s, 2min or 1h; it got {text!r}.", field=field
        )
    return value


def parse_size(text: str, field: str) -> int:
    """Bytes from ``64M``, ``1G``, ``500k`` or a bare number; the units are powers of 1024.

    Raises
    ------
    UsageError
        With `field` in it, when it is not a size above 0.
    """
    number, unit = _split(text)
    try:
        value = int(float(number) * _BYTES[unit.removesuffix("iB").removesuffix("B")])
    except (ValueError, KeyError, OverflowError):
        value = 0
    if value <= 0:
        raise UsageError(f"{field} takes a size such as 64M or 1G; it got {text!r}.", field=field)
    return value


def parse_budget(text: str, field: str) -> tuple[float | None, int | None]:
    """A budget as (seconds, None) or (None, number of trials), from ``2min`` or ``200runs``."""
    number, unit = _split(text)
    if unit in ("run", "runs"):
        if not number.isdigit() or int(number) == 0:
            raise UsageError(
                f"{field} takes a whole number of runs such as 200runs; it got {text!r}.",
                field=field,
            )
        return None, int(number)
    try:
        return parse_duration(text, field), None
    except UsageError:
        raise UsageError(
            f"{field} takes a time such as 30s or 2min, or a number of trials such as 200runs; "
            f"it got {text!r}.",
            field=field,
        ) from None


def parse_cpus(text: str, field: str) -> tuple[int, ...]:
    """CPU numbers from a list such as ``0,2-3``."""
    cpus: set[int] = set()
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            low, high = int(first), int(last if dash else first)
            if not 0 <= low <= high:
                raise ValueError
            cpus.update(range(low, high + 1))
    except ValueError:
        raise UsageError(
            f"{field} takes CPU numbers such as 1 or 0,2-3; it got {text!r}.", field=field
        ) from None
    return tuple(sorted(cpus))
