"""Units, directions and dates as tools write them beside values along revisions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from steelyard.core.experiment_spec import Direction
from steelyard.core.units import LAST_UNIX_S
from steelyard.harness.quantities import BYTES, SECONDS, base_unit

_PER = {"iter", "op", "ops", "call", "run", "loop"}
_RATES = ("/s", "/sec", "/second", "per second", "/min")
_DATE = re.compile(r"(\d{4})[./-](\d{1,2})[./-](\d{1,2})(.*)")
_CLOCK = re.compile(r"[T ]\s*(\d{1,2}):(\d\d)(:\d\d(?:\.\d+)?)?\s*(.*)")
_ZONE = re.compile(r"([+-]\d\d):?(\d\d)")
# Milliseconds of 1973, and seconds of the year 5138: nothing that is kept lies between.
_LAST_SECONDS = 1e11


class Quantity(NamedTuple):
    """What to multiply by, our unit, and which direction is better."""

    factor: float
    unit: str
    direction: Direction


def quantity_of(unit: str) -> Quantity:
    """What a unit such as ``ns/iter``, ``MiB`` or ``ops/sec`` stands for.

    Of a rate more is better, of everything else less. Units that are not known stay as they are.
    """
    text = unit.strip()
    first, separator, per = text.partition("/")
    if separator and per in _PER and (first in SECONDS or first in BYTES):
        text = first
    factor, base = base_unit(text)
    return Quantity(factor, base, "higher" if text.endswith(_RATES) else "lower")


def unix_time_of(text: str) -> float | None:
    """The seconds since 1970 that a date or a number says; None where it says none.

    Dates as ISO 8601 has them, also with ``.`` or ``/`` between their parts; without a zone they
    are UTC. Numbers above 1e11 are milliseconds.
    """
    plain = text.strip()
    try:
        number = float(plain)
    except ValueError:
        return _date(plain)
    seconds = number / 1000 if number > _LAST_SECONDS else number
    return seconds if 0 <= seconds <= LAST_UNIX_S else None


def _date(text: str) -> float | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, rest = found.groups()
    written = f"{year}-{int(month):02}-{int(day):02}"
    clock = _CLOCK.fullmatch(rest)
    if clock is not None:
        hour, minute, second, zone = clock.groups()
        written += f"T{int(hour):02}:{minute}{second or ':00'}{_zone(zone)}"
    elif rest.strip():
        return None
    try:
        moment = datetime.fromisoformat(written)
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        seconds = aware.timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds <= LAST_UNIX_S else None


def _zone(text: str) -> str:
    if text in ("", "Z", "UTC", "GMT"):
        return "+00:00"
    found = _ZONE.fullmatch(text)
    return f"{found[1]}:{found[2]}" if found else text
