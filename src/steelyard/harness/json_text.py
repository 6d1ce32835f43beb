"""JSON out of a program's output, which may have other words around it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.field_reader import json_fault
from steelyard.harness.adapter import Source


def json_value(source: Source) -> Any:
    """The first JSON object or list of a text that begins at the start of a line.

    Lines before it that are no JSON, and whatever follows it, are passed over.

    Raises
    ------
    DataError
        There is none, or it is cut off; the message says in which line.
    """
    text = source.text
    furthest: json.JSONDecodeError | None = None
    reach = -1
    for start in _starts(text):
        try:
            return json.JSONDecoder().raw_decode(text, start)[0]
        except json.JSONDecodeError as error:
            if error.pos - start > reach:
                reach, furthest = error.pos - start, error
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{source.name} is not whole JSON: {json_fault(error)}.", field="file"
            ) from None
    if furthest is None:
        raise DataError(f"{source.name} holds no JSON object or list.", field="file")
    raise DataError(
        f"{source.name} is not whole JSON: {furthest.msg} in line {furthest.lineno}, column "
        f"{furthest.colno}.",
        field="file",
    )


def _starts(text: str) -> Iterator[int]:
    """Where lines begin that open an object or a list; what is indented lies within another."""
    start = 0
    while start >= 0:
        if text[start : start + 1] in ("{", "["):
            yield start
        start = text.find("\n", start) + 1 or -1
