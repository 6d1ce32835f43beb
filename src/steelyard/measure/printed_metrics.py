"""Metrics that a program prints: found by a regular expression, or at a path in its JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Direction, MetricSpec
from steelyard.core.units import LARGEST_VALUE

if TYPE_CHECKING:
    import re

WANTED = "NAME=REGEX:UNIT or NAME=json:PATH:UNIT, and :higher at the end where more is better"
DIRECTIONS: tuple[Direction, ...] = ("lower", "higher")


def parse_printed_metric(text: str) -> MetricSpec:
    """The metric that an option such as ``score=Score ([0-9.]+):points:higher`` describes.

    The expression may be preceded by ``regex:``, for one that begins with ``json:``.

    Raises
    ------
    UsageError
        A part is missing, the expression is wrong or has no group, or the name belongs to a
        registered metric.
    """
    name, _, rest = text.partition("=")
    if not name.isidentifier():
        raise _refused(text, f"{name!r} is no name of letters, digits and underscores")
    direction: Direction = "lower"
    head, _, last = rest.rpartition(":")
    for known in DIRECTIONS:
        if last == known:
            direction, rest = known, head
    pattern, _, unit = rest.rpartition(":")
    if not pattern or not unit or pattern == "json" or not _is_unit(unit):
        raise _refused(text, "it lacks a unit at its end")
    _check_free(name)
    if pattern.startswith("json:"):
        path = pattern.removeprefix("json:")
        _steps(path)
        return MetricSpec(name, unit, direction, "json", path)
    pattern = pattern.removeprefix("regex:")
    if not _expression(pattern).groups:
        raise _refused(text, "its expression has no group (...) around the value")
    return MetricSpec(name, unit, direction, "regex", pattern)


def _is_unit(unit: str) -> bool:
    return unit == "%" or unit.replace("/", "").replace("%", "").isalnum()


def _refused(text: str, why: str) -> UsageError:
    return UsageError(
        f"The metric {text!r} cannot be taken: {why}. Write {WANTED}.", field="metric"
    )


def _check_free(name: str) -> None:
    from steelyard.measure.metrics import METRICS

    if name in METRICS:
        raise UsageError(
            f"{name!r} is a metric that Steelyard takes itself; name the printed one otherwise.",
            field="metric",
        )


@lru_cache(maxsize=64)
def _expression(pattern: str) -> re.Pattern[str]:
    import re

    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"The regular expression {pattern!r} is wrong: {error}.", field="metric"
        ) from None


@lru_cache(maxsize=64)
def _steps(path: str) -> tuple[str | int, ...]:
    """``results[0].time`` as ("results", 0, "time")."""
    steps: list[str | int] = []
    for part in path.replace("[", ".[").split("."):
        if part.startswith("[") and part.endswith("]") and part[1:-1].lstrip("-").isdigit():
            steps.append(int(part[1:-1]))
        elif part and "[" not in part and "]" not in part:
            steps.append(part)
        elif part or path.startswith("[") is False:
            raise UsageError(
                f"The JSON path {path!r} is wrong; write it like results[0].time.", field="metric"
            )
    return tuple(steps)


def printed_values(
    record: Mapping[str, Any], metrics: Sequence[MetricSpec]
) -> dict[str, list[float]]:
    """What the program of a trial printed, by metric.

    Of a regular expression the last match that is not empty counts; each of its groups that
    took part gives one iteration. A JSON path gives one iteration, or several where it leads to
    a list; the whole output is read as JSON or, where it is not, its last line.

    Returns
    -------
    dict of name to list of float
        Without the metrics that the output lacks, or for which it has no finite number.
    """
    path = record.get("output")
    if path is None:
        return {}
    try:
        with open(os.fsencode(path), "rb") as file:
            text = file.read().decode("utf-8-sig", "replace")
    except OSError:
        return {}
    found = {metric.name: values_in(text, metric) for metric in metrics}
    return {name: values for name, values in found.items() if values}


def values_in(text: str, metric: MetricSpec) -> list[float]:
    """The values of one metric in what a program printed; none where it lacks it."""
    pattern = metric.pattern or ""
    if metric.source == "json":
        return _finite(_at(_document(text), _steps(pattern)))
    last: list[str] = []
    for match in _expression(pattern).finditer(text):
        last = [group for group in match.groups() if group] or last
    return _finite(last)


def _document(text: str) -> Any:
    lines = text.strip().rsplit("\n", 1)
    for candidate in (text, lines[-1]):
        try:
            return json.loads(candidate)
        except ValueError:
            continue
    return None


def _at(value: Any, steps: Sequence[str | int]) -> list[Any]:
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return []
    return value if isinstance(value, list) else [value]


def _finite(found: Sequence[Any]) -> list[float]:
    """All of `found` as floats, or nothing where one is no finite number or not plausible."""
    values: list[float] = []
    for item in found:
        if isinstance(item, bool) or item is None:
            return []
        try:
            values.append(float(item))
        except (TypeError, ValueError, OverflowError):
            return []
    return values if all(abs(value) <= LARGEST_VALUE for value in values) else []
