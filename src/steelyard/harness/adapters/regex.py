"""Any regular expression: each match in the output is one iteration.

The value is the group ``value``, or the first group. The groups ``unit``, ``benchmark`` and
``warmup`` (where it took part) say more, where the expression has them.
"""

from __future__ import annotations

import re

from steelyard.core.errors import DataError, UsageError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source
from steelyard.harness.quantities import SECONDS


def parse_pattern(text: str) -> tuple[re.Pattern[str], float]:
    """The expression of ``EXPRESSION:UNIT`` or ``EXPRESSION``, and seconds in its unit.

    Raises
    ------
    UsageError
        The expression is wrong or has no group.
    """
    expression, separator, unit = text.rpartition(":")
    if not separator or unit not in SECONDS:
        expression, unit = text, "s"
    try:
        pattern = re.compile(expression, re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"The regular expression {expression!r} is wrong: {error}.", field="--iterations"
        ) from None
    if not pattern.groups:
        raise UsageError(
            f"The regular expression {expression!r} has no group (...) around the time of an "
            "iteration. Write such as 'regex:took ([0-9.]+) ms:ms'.",
            field="--iterations",
        )
    return pattern, SECONDS[unit]


def read(source: Source) -> tuple[Series, ...]:
    """The matches as iterations, in seconds."""
    pattern, factor = parse_pattern(source.pattern or "")
    fields = FieldReader(source.name)
    values: dict[str, list[float]] = {}
    warmups: dict[str, int] = {}
    for number, match in enumerate(pattern.finditer(source.text), start=1):
        groups = match.groupdict()
        where = f"match {number}"
        name = groups.get("benchmark") or ""
        own = values.setdefault(name, [])
        own.append(_seconds(fields, match, factor, where))
        if groups.get("warmup"):
            if warmups.get(name, 0) != len(own) - 1:
                raise fields.error(where, "kept, after an iteration that is", match[0])
            warmups[name] = len(own)
    if not values:
        raise DataError(
            f"{source.name} has nothing that the regular expression {pattern.pattern!r} matches.",
            field="--iterations",
        )
    return tuple(
        Series(name, ITERATION_TIME, "s", tuple(own), warmup_count=warmups.get(name, 0))
        for name, own in values.items()
    )


def _seconds(fields: FieldReader, match: re.Match[str], factor: float, where: str) -> float:
    groups = match.groupdict()
    text = groups["value"] if "value" in groups else match[1]
    unit = groups.get("unit")
    if unit is not None:
        factor = SECONDS[fields.choice(unit, f"{where}: unit", list(SECONDS))]
    try:
        return fields.number(float(text or ""), f"{where}: value") * factor
    except ValueError:
        raise fields.error(f"{where}: value", "a number", text) from None


EXTENSION = Adapter(
    name="regex",
    harness="any program",
    description="Every match of an expression is an iteration: `regex:took ([0-9.]+) ms:ms`.",
    recognises=lambda _text: False,
    read=read,
    takes_pattern=True,
)
