"""The JSON Schemas (draft 2020-12) of the documents, a file a kind."""

from __future__ import annotations

import json
import os
from typing import Any

from steelyard.core.errors import UnknownNameError

_FOLDER = os.path.dirname(__file__)


def schema_kinds() -> list[str]:
    """The names of all schemas, sorted; ``definitions`` holds what several share."""
    return sorted(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".json"))


def schema(kind: str) -> dict[str, Any]:
    """The schema of documents of `kind`.

    Raises
    ------
    UnknownNameError
        There is no such kind; the message lists those that there are.
    """
    if kind not in schema_kinds():
        known = ", ".join(schema_kinds())
        raise UnknownNameError(f"There is no schema for {kind!r}. Known: {known}.", field="kind")
    with open(os.path.join(_FOLDER, f"{kind}.json"), encoding="utf-8") as file:
        return json.load(file)
