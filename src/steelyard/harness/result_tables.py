"""Results of a benchmark package: a table with a column a metric, or an object with a field each.

``results.csv`` has the names of metrics in its first line, with units in parentheses where they
have one (``rate (MB/s)``), and a line an iteration. ``metrics.json`` is an object: a metric is a
number, a list of numbers, or an object with ``value`` or ``values``, ``unit`` and ``direction``.
Names of times that end in ``_s``, ``_ms``, ``_us``, ``_ns`` need no unit, nor does ``_bytes``.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, cast

from steelyard.core.decoding import decoding
from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader, json_fault
from steelyard.core.units import LARGEST_VALUE
from steelyard.harness.adapter import Series, Source
from steelyard.harness.harness_tables import WHITE, table_rows
from steelyard.harness.quantities import BYTES, SECONDS, base_unit

_HEADED = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)\s*")
_ENDING = re.compile(r".*_(?P<unit>[a-z]+)")
# Names by which more is better; of a rate, whatever it is called.
_HIGHER = re.compile(r"throughput|bandwidth|rate|score|_per_s(ec(ond)?)?$|/s$|ops", re.IGNORECASE)


def read_results(source: Source) -> tuple[Series, ...]:
    """A series for each column of numbers, or each field.

    Raises
    ------
    DataError
        There is none, or the text is cut off; the message names the file.
    """
    found = _fields(source) if source.text.lstrip(WHITE).startswith("{") else _columns(source)
    if not found:
        raise DataError(f"{source.name} has no column of numbers.", field="file")
    for item in found:
        if max(map(abs, item.values)) > LARGEST_VALUE:
            raise DataError(f"{source.name}: a value of {item.metric} is too large.", field="file")
    return tuple(found)


def _unit_of(name: str) -> tuple[str, str]:
    """The name of a metric without the unit that stands in it, and that unit."""
    headed = _HEADED.fullmatch(name)
    if headed:
        return headed["name"], headed["unit"].strip()
    ending = _ENDING.fullmatch(name)
    if ending and (ending["unit"] in SECONDS or ending["unit"] in BYTES):
        return name, ending["unit"]
    return name, ""


def _direction(name: str, unit: str) -> Direction:
    return "higher" if _HIGHER.search(name) or unit.endswith("/s") else "lower"


def _columns(source: Source) -> list[Series]:
    with decoding(f"{source.name} is no table"):
        rows = [row for _, row in table_rows(source)]
    found: list[Series] = []
    for heading in rows[0] if rows else ():
        try:
            numbers = [float(row[heading]) for row in rows]
        except ValueError:
            continue  # A column of words, such as the name of an input.
        name, unit = _unit_of(heading.strip())
        if not name or not all(map(isfinite, numbers)):
            continue
        factor, base = base_unit(unit)
        values = tuple(number * factor for number in numbers)
        found.append(Series("", name, base, values, direction=_direction(name, unit)))
    return found


def _fields(source: Source) -> list[Series]:
    fields = FieldReader(source.name)
    try:
        decoded: Any = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source.name} is not JSON: {json_fault(error)}.", field="file") from None
    found: list[Series] = []
    for heading, told in fields.mapping(decoded, "the file").items():
        name, unit = _unit_of(heading)
        direction: Direction = _direction(name, unit)
        given: Any = told
        if isinstance(told, dict):
            about = fields.mapping(told, heading)
            unit = fields.text(about.get("unit", unit), f"{heading}: unit")
            direction = about.get("direction", _direction(name, unit))
            fields.choice(direction, f"{heading}: direction", ["lower", "higher"])
            given = about.get("values", about.get("value"))
        numbers = cast("list[Any]", given) if isinstance(given, list) else [given]
        if not numbers or any(isinstance(one, (str, bool, dict, list)) for one in numbers):
            continue
        factor, base = base_unit(unit)
        values = tuple(fields.finite(one, heading) * factor for one in numbers)
        found.append(Series("", name, base, values, direction=direction))
    return found
