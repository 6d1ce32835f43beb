"""The file of a person's choices: from which iteration on each execution looks stable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.store.whole_file import file_errors, whole_file

_SCHEMA = "steelyard/1"
_KIND = "choices"


@dataclass(frozen=True)
class Choices:
    """What a person chose, and for which values.

    Parameters
    ----------
    digest : str
        Of the values that were looked at.
    chosen : mapping of str to int
        By the label of an execution, an iteration counted from 0.
    """

    digest: str
    chosen: Mapping[str, int]


def read_choices(path: str) -> Choices:
    """The choices of a file.

    Raises
    ------
    DataError
        It is no such file; the message names the field.
    """
    with file_errors(path, "read"), open(path, "rb", opener=regular_opener) as file:
        data = file.read()
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise _wrong(path, "it is not JSON", "file") from None
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise _wrong(path, f"its kind is not {_KIND!r}", "kind")
    digest, chosen = document.get("digest"), document.get("chosen")
    if not isinstance(digest, str):
        raise _wrong(path, "its digest is no text", "digest")
    if not isinstance(chosen, dict):
        raise _wrong(path, "chosen is no object", "chosen")
    for label, iteration in chosen.items():
        if not is_iteration(iteration):
            raise _wrong(
                path, f"chosen.{label} is {iteration!r}, not the number of an iteration", "chosen"
            )
    return Choices(digest, chosen)


def is_iteration(value: Any) -> bool:
    """Whether a value from JSON is the number of an iteration."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _wrong(path: str, why: str, field: str) -> DataError:
    return DataError(
        f"{path} holds no choices: {why}. `steelyard analyze DATA --method states --choose` and "
        "the page of --html write such files.",
        field=field,
    )


def write_choices(path: str, choices: Choices) -> None:
    """Write the choices whole or not at all, making the directory where there is none."""
    document = {
        "schema": _SCHEMA,
        "kind": _KIND,
        "digest": choices.digest,
        "chosen": dict(choices.chosen),
    }
    with file_errors(path, "write"):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with whole_file(path) as writable, open(writable, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=1) + "\n")


def beside_file(path: str) -> str:
    """Where the choices for a data file are kept unless asked otherwise."""
    return f"{path}.choices.json"


def beside_store(store: str, identifier: str, digest: str) -> str:
    """Where those for some values of a stored experiment are."""
    return os.path.join(f"{store}.choices", f"{identifier}-{digest[:12]}.json")
