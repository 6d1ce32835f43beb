"""Steelyard's own: one JSON object a line, one line an iteration.

``{"value": 0.0123}`` is enough. ``metric`` (default ``iteration_time``), ``unit`` (default ``s``),
``direction``, ``benchmark`` and ``warmup`` may be there; other fields are passed over.
"""

from __future__ import annotations

import json
from math import inf
from typing import Any, NamedTuple, cast

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader, json_fault
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.quantities import base_unit


def recognises(text: str) -> bool:
    """Whether the first line that begins with ``{`` is a whole object with ``value``."""
    first = next((line for line in _lines(text) if line.startswith("{")), "")
    if '"value"' not in first:
        return False
    try:
        return "value" in json.loads(first)
    except (ValueError, RecursionError):
        return False


def read(source: Source) -> tuple[Series, ...]:
    """The lines that begin with ``{``; a program may print others between them."""
    fields = FieldReader(source.name)
    reader = _Reader(fields)
    lines = enumerate(_lines(source.text), start=1)
    numbered = [(number, line) for number, line in lines if line.startswith("{")]
    objects = _all_objects([line for _, line in numbered])
    for place, (number, line) in enumerate(numbered):
        item = _object(source, line, number) if objects is None else objects[place]
        if not reader.add_alike(item):
            reader.add(item, f"line {number}")
    if not reader.values:
        raise DataError(
            f'{source.name} has no line such as {{"value": 0.0123}}.', field="the lines"
        )
    return reader.series()


def _lines(text: str) -> list[str]:
    """The lines of a text; U+2028 and its like, at which `splitlines` splits, end none."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _all_objects(lines: list[str]) -> list[Any] | None:
    """All lines at once, which is several times as fast; None where that does not go well."""
    try:
        found: list[Any] = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        return None
    return found if len(found) == len(lines) else None


def _object(source: Source, line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{source.name}: line {number} is not whole JSON: {json_fault(error)}.",
            field=f"line {number}",
        ) from None


class _Alike(NamedTuple):
    """The line before, with 0 as its value, and where its value went."""

    line: dict[str, Any]
    key: tuple[str, str]
    values: list[float]
    factor: float
    warm: bool


class _Reader:
    """Gathers lines by benchmark and metric."""

    def __init__(self, fields: FieldReader) -> None:
        self.fields = fields
        self.values: dict[tuple[str, str], list[float]] = {}
        self.warmups: dict[tuple[str, str], int] = {}
        self.about: dict[tuple[str, str], tuple[str, Direction]] = {}
        self._alike: _Alike | None = None

    def add_alike(self, item: Any) -> bool:
        """Take a line that differs from the one before in its value alone; whether it was so.

        A million of them are read in the time of the programs that write them.
        """
        last = self._alike
        if last is None or not isinstance(item, dict):
            return False
        line = cast("dict[str, Any]", item)
        value = line.get("value")
        if not isinstance(value, float) or not 0.0 <= value < inf:
            return False
        if {**line, "value": 0.0} != last.line:
            return False
        last.values.append(value * last.factor)
        if last.warm:
            self.warmups[last.key] += 1
        return True

    def add(self, item: Any, where: str) -> None:
        """Take one line."""
        fields = self.fields
        line = fields.mapping(item, where)
        benchmark = fields.text(line.get("benchmark", ""), f"{where}: benchmark")
        metric = fields.text(line.get("metric", ITERATION_TIME), f"{where}: metric")
        default = "s" if metric == ITERATION_TIME else ""
        factor, unit = base_unit(fields.text(line.get("unit", default), f"{where}: unit"))
        direction = line.get("direction", "lower")
        fields.choice(direction, f"{where}: direction", ["lower", "higher"])
        value = fields.finite(fields.required(line, "value", where), f"{where}: value") * factor
        if unit == "s" and value < 0:
            raise fields.error(f"{where}: value", "0 or above, as a time", value)
        warm = fields.choice(line.get("warmup", False), f"{where}: warmup", [True, False])
        key = (benchmark, metric)
        values = self.values.setdefault(key, [])
        if self.about.setdefault(key, (unit, direction)) != (unit, direction):
            raise fields.error(
                f"{where}: unit", f"{self.about[key][0]} as in the lines before", unit
            )
        if warm and len(values) != self.warmups.get(key, 0):
            raise fields.error(f"{where}: warmup", "false after an iteration that is kept", warm)
        self.warmups[key] = self.warmups.get(key, 0) + bool(warm)
        values.append(value)
        self._alike = _Alike({**line, "value": 0.0}, key, values, factor, bool(warm))

    def series(self) -> tuple[Series, ...]:
        """What was gathered."""
        return tuple(
            Series(
                *key,
                self.about[key][0],
                tuple(values),
                warmup_count=self.warmups[key],
                direction=self.about[key][1],
            )
            for key, values in self.values.items()
        )


EXTENSION = Adapter(
    name="json-lines",
    harness="a program with Steelyard's JSON lines",
    description="A JSON object a line, as the C header, the Python module and the Java class "
    "write them.",
    recognises=recognises,
    read=read,
)
