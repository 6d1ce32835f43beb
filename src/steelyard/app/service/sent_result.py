"""What a worker sends back of a part, read as a value: every field checked, nothing believed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from steelyard.core.errors import DataError
from steelyard.core.json_codec import trial_from_json
from steelyard.service.trial_commits import SentResult

FIELDS = ("part", "attempt", "experiment", "trials", "provenance", "failure", "levels")
_LONGEST_FAILURE = 10_000


def read_sent_result(document: Any) -> SentResult:
    """The result that an object of JSON describes.

    Raises
    ------
    DataError
        A field is unknown, missing or of the wrong kind.
    """
    if not isinstance(document, Mapping):
        raise DataError("A result must be a JSON object.")
    found = cast("Mapping[str, Any]", document)
    for name in found:
        if name not in FIELDS:
            raise DataError(f"A result has no field {name!r}.", field=name)
    trials = found.get("trials", [])
    provenance = found.get("provenance", {})
    levels = found.get("levels", {})
    if not isinstance(trials, list) or not isinstance(provenance, Mapping):
        raise DataError("A result has a list of trials and an object of provenance.")
    if not isinstance(levels, Mapping):
        raise DataError("The levels of a result are an object.", field="levels")
    try:
        read = tuple(trial_from_json(each) for each in cast("list[Any]", trials))
        json.dumps(provenance, allow_nan=False)
    except (RecursionError, ValueError):
        raise DataError("A result is nested too deep, or has a number that is none.") from None
    return SentResult(
        whole_field(found, "part"),
        whole_field(found, "attempt"),
        _text(found, "experiment"),
        read,
        cast("Mapping[str, Any]", provenance),
        readable(_text(found, "failure"))[:_LONGEST_FAILURE] if "failure" in found else "",
        {str(name): str(level) for name, level in cast("Mapping[Any, Any]", levels).items()},
    )


def encodable(text: str, field: str) -> bytes:
    """A text as UTF-8.

    Raises
    ------
    DataError
        It has half a character of UTF-16, which no file and no database can hold.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise DataError(f"{field} is no text of Unicode: half a character.", field=field) from None


def whole_field(found: Mapping[str, Any], name: str) -> int:
    """A field that is a whole number.

    Raises
    ------
    DataError
    """
    value = found.get(name)
    if type(value) is not int or not 0 <= value < 2**31:
        raise DataError(f"{name} must be a whole number from 0 on, not {value!r}.", field=name)
    return value


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name} must be text, not {value!r}.", field=name)
    return value


def readable(text: str) -> str:
    """What a program wrote, or how a file is called, as every database keeps it: PostgreSQL has no
    place for zero bytes, and none has for half a character."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
