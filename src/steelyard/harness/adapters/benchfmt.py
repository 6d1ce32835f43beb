"""Go's benchmark text, which ``go test -bench`` prints and benchstat reads.

A line is ``BenchmarkNAME-PROCESSORS COUNT VALUE UNIT VALUE UNIT ...``; lines ``key: value`` before
it say what it was run on, ``Unit NAME better=higher`` which way is better. As in
golang.org/design/14313-benchmark-format and the package golang.org/x/perf/benchfmt.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Metric, Series, Source

# Lines that Steelyard's own files begin with: each line is an execution, the key names a variant.
OWN_EXPERIMENT = "steelyard-experiment"
OWN_METRIC = "steelyard-metric"
_LINE = re.compile(r"Benchmark(\S*)[ \t]+(\d+)[ \t]+(\S.*)")
_LOOK = re.compile(r"^Benchmark\S*[ \t]+\d+[ \t]+[-+.\deE]+[ \t]+[^\s\d]", re.MULTILINE)
_KEY = re.compile(r"([a-z][^\sA-Z:]*):[ \t]*(.*)")
_UNIT = re.compile(r"Unit[ \t]+(\S+)[ \t]+(.*)")
_FAIL = re.compile(r"--- FAIL: Benchmark(\S+)")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?")
_OWN_NAME = re.compile(r"(?P<benchmark>.*)/variant=(?P<variant>[^/]*)-1")
_OWN_BENCHMARK = "Steelyard"
# Units of a time, with the power of ten that makes seconds of them.
_TIME_UNITS = {"ns": -9, "us": -6, "µs": -6, "ms": -3, "s": 0, "sec": 0}


class _Quantity(NamedTuple):
    """What a unit of a line stands for."""

    metric: str
    unit: str
    exponent: int
    direction: Direction


_KNOWN = {
    "B/op": _Quantity("bytes_per_op", "bytes", 0, "lower"),
    "allocs/op": _Quantity("allocs_per_op", "count", 0, "lower"),
    "MB/s": _Quantity("bytes_per_second", "bytes/s", 6, "higher"),
    "B/s": _Quantity("bytes_per_second", "bytes/s", 0, "higher"),
    **{
        f"{unit}/op": _Quantity(ITERATION_TIME, "s", exponent, "lower")
        for unit, exponent in _TIME_UNITS.items()
    },
}


def recognises(text: str) -> bool:
    """Whether some line begins with a benchmark's name, a count, a value and its unit."""
    return _LOOK.search(text) is not None


def read(source: Source) -> tuple[Series, ...]:
    """A line is an iteration of its benchmark; the lines after one header are one execution."""
    reader = _Reader(source)
    lines = source.text.replace("\r\n", "\n").split("\n")
    whole = len(lines) - 1
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line.rstrip())
        if match is not None and number > whole:
            raise DataError(
                f"{source.name}: line {number} has no end of line: it is cut off.",
                field=f"line {number}",
            )
        if match is not None:
            reader.add(match[1], match[3].split(), f"line {number}")
        else:
            reader.look(line)
    if not reader.found and not reader.failed:
        raise DataError(
            f"{source.name} has no line such as `BenchmarkSort-8 1000 1234 ns/op`.",
            field="the lines",
        )
    return reader.series()


class _Reader:
    """Gathers lines by package, benchmark, execution and unit."""

    def __init__(self, source: Source) -> None:
        self.fields = FieldReader(source.name)
        self.keys: dict[str, str] = {}
        self.directions: dict[str, Direction] = {}
        self.found: dict[tuple[str, str], list[dict[str, list[float]]]] = {}
        self.failed: dict[tuple[str, str], None] = {}
        self.header = 0
        self._in_lines = False
        self._headers: dict[tuple[str, str], int] = {}

    def look(self, line: str) -> None:
        """Take what a line that is no result says of the results after it."""
        unit = _UNIT.fullmatch(line.rstrip())
        if unit is not None and "better=higher" in unit[2].split():
            self.directions[unit[1]] = "higher"
        failed = _FAIL.match(line)
        if failed is not None:
            self.failed[self._key(failed[1])] = None
        key = _KEY.fullmatch(line.rstrip())
        if key is not None:
            self.header += self._in_lines
            self._in_lines = False
            self.keys[key[1]] = key[2]

    def _key(self, name: str) -> tuple[str, str]:
        return self.keys.get("pkg", ""), name

    def add(self, name: str, parts: list[str], where: str) -> None:
        """Take one result."""
        self._in_lines = True
        key = self._key(name)
        if len(parts) % 2:
            raise self.fields.error(where, "values that each have a unit", " ".join(parts))
        executions = self.found.setdefault(key, [])
        # What go test starts anew has a header of its own; our own lines are executions.
        if OWN_EXPERIMENT in self.keys or self._headers.get(key) != self.header:
            self._headers[key] = self.header
            executions.append({})
        for text, unit in zip(parts[::2], parts[1::2], strict=True):
            value = self._value(text, _quantity(unit).exponent, f"{where}: {unit}")
            executions[-1].setdefault(unit, []).append(value)

    def _value(self, text: str, exponent: int, where: str) -> float:
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise self.fields.error(where, "a finite number", text)
        # A power of ten in the text loses no digit, as a product would.
        power = int((match[2] or "e0")[1:]) + exponent
        digits = text[: match.start(2)] if match[2] else text
        return self.fields.finite(float(f"{digits}e{power}"), where)

    def series(self) -> tuple[Series, ...]:
        """What was gathered; a benchmark that only failed has an empty series."""
        several = len({package for package, _ in (*self.found, *self.failed)}) > 1
        made = [
            self._series(key, unit, values, execution, several)
            for key, executions in self.found.items()
            for execution, table in enumerate(executions)
            for unit, values in table.items()
        ]
        for key in self.failed:
            if key not in self.found:
                made.append(
                    Series(_named(key, several), ITERATION_TIME, "s", (), error="it failed")
                )
        return tuple(made)

    def _series(
        self,
        key: tuple[str, str],
        unit: str,
        values: list[float],
        execution: int,
        several: bool,
    ) -> Series:
        quantity = _quantity(unit)
        metric, benchmark = quantity.metric, _named(key, several)
        if OWN_EXPERIMENT in self.keys:
            metric = self.keys.get(OWN_METRIC, metric) if metric == ITERATION_TIME else metric
            benchmark = _own_name(key[1])
        return Series(
            benchmark,
            metric,
            quantity.unit,
            tuple(values),
            direction=self.directions.get(unit, quantity.direction),
            execution=execution,
            error="it failed" if key in self.failed else None,
        )


def _named(key: tuple[str, str], several: bool) -> str:
    """A benchmark's name, with its package where the text has several."""
    package, name = key
    return f"{package}.{name}" if several and package else name


def _own_name(name: str) -> str:
    """The variant that a line of Steelyard's own names, with its benchmark where it has one."""
    match = _OWN_NAME.fullmatch(name)
    if match is None:
        return name
    benchmark, variant = match["benchmark"], match["variant"]
    return variant if benchmark == _OWN_BENCHMARK else f"{benchmark} {variant}"


def _quantity(unit: str) -> _Quantity:
    """What a unit stands for: a known one, one that ends in a unit of time or bytes, or a count."""
    if unit in _KNOWN:
        return _KNOWN[unit]
    name, dash, end = unit.removesuffix("/op").rpartition("-")
    if dash and name and end in _TIME_UNITS:
        return _Quantity(name, "s", _TIME_UNITS[end], "lower")
    if dash and name and end == "B":
        return _Quantity(name, "bytes", 0, "lower")
    return _Quantity(unit, "count", 0, "lower")


EXTENSION = Adapter(
    name="benchfmt",
    harness="Go's testing package",
    description="Go's benchmark text: a line is an iteration, a header begins an execution.",
    recognises=recognises,
    read=read,
    metrics=(
        Metric(ITERATION_TIME, "s"),
        Metric("bytes_per_op", "bytes"),
        Metric("allocs_per_op", "count"),
        Metric("bytes_per_second", "bytes/s", "higher"),
    ),
)
