"""Taking fields out of decoded JSON, with one clear error for each that is not as it should be."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, cast

from steelyard.core.errors import DataError
from steelyard.core.units import LARGEST_VALUE, LARGEST_WHOLE, LAST_UNIX_S

# What code that takes fields out of decoded JSON raises where one is of another kind, as in a file
# or a row that was damaged or edited by hand.
FIELD_FAULTS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    DataError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)


def json_fault(error: ValueError | RecursionError) -> str:
    """Why a text could not be decoded, as it follows "is not JSON: "."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, RecursionError):
        return "it nests too deep"
    # Of values that are JSON, Python refuses whole numbers of thousands of digits.
    return "a number has too many digits"


def wrong_field(field: str, wanted: str, found: Any, place: str = "") -> DataError:
    """The error for a field that is not as wanted; `place` is what the message begins with."""
    shown = json.dumps(found, default=str)
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    return DataError(f"{place}{field} must be {wanted}, not {shown}.", field=field)


class FieldReader:
    """Takes fields out of decoded JSON and says, of a wrong one, in which file and place.

    Parameters
    ----------
    path : str
        The file, for messages.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def error(self, field: str, wanted: str, found: Any) -> DataError:
        """The error for a field that is not as wanted."""
        return wrong_field(field, wanted, found, f"{self.path}: ")

    def mapping(self, value: Any, field: str) -> dict[str, Any]:
        """`value`, an object."""
        if not isinstance(value, dict):
            raise self.error(field, "an object", value)
        return cast("dict[str, Any]", value)

    def sequence(self, value: Any, field: str) -> list[Any]:
        """`value`, a list."""
        if not isinstance(value, list):
            raise self.error(field, "a list", value)
        return cast("list[Any]", value)

    def text(self, value: Any, field: str) -> str:
        """`value`, a text."""
        if not isinstance(value, str):
            raise self.error(field, "a text", value)
        return value

    def number(self, value: Any, field: str) -> float:
        """`value`, a finite number that is not negative."""
        if self.finite(value, field) < 0:
            raise self.error(field, "0 or above", value)
        return float(value)

    def finite(self, value: Any, field: str) -> float:
        """`value`, a finite number of a size that can be reckoned with."""
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not abs(value) < math.inf:
            raise self.error(field, "a finite number", value)
        if abs(value) > LARGEST_VALUE:
            raise self.error(field, f"at most {LARGEST_VALUE:.0e} to be plausible", value)
        return float(value)

    def unix_time(self, value: Any, field: str) -> float:
        """`value`, seconds since 1970."""
        if self.number(value, field) > LAST_UNIX_S:
            raise self.error(field, "seconds since 1970, up to the year 9999", value)
        return float(value)

    def whole(self, value: Any, field: str, below: int | None = None) -> int:
        """`value`, a whole number of at most 64 bits, at most `below` - 1."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(field, "a whole number", value)
        if below is not None and not 0 <= value < below:
            raise self.error(field, f"from 0 to {below - 1}", value)
        if abs(value) > LARGEST_WHOLE:
            raise self.error(field, "a whole number of at most 64 bits", value)
        return value

    def choice(self, value: Any, field: str, choices: Sequence[Any]) -> Any:
        """`value`, one of a few."""
        # True is 1 for Python, and not in a file.
        if not any(value == choice and type(value) is type(choice) for choice in choices):
            raise self.error(field, "one of " + ", ".join(map(str, choices)), value)
        return value

    def required(self, mapping: dict[str, Any], name: str, where: str) -> Any:
        """A field that must be there."""
        if name not in mapping:
            place = where or "the top level"
            raise DataError(
                f"{self.path}: {place} lacks the field {name!r}.",
                field=f"{where}.{name}".lstrip("."),
            )
        return mapping[name]
