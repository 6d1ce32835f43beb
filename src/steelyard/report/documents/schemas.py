"""The JSON Schemas (draft 2020-12) of the documents: each in the folder of its kind."""

from __future__ import annotations

import json
import os
from typing import Any

from steelyard.core.errors import UnknownNameError

_HERE = os.path.dirname(__file__)
_KINDS = os.path.join(os.path.dirname(_HERE), "kinds")


def schema_files() -> dict[str, str]:
    """The path of each schema by its kind; ``definitions`` holds what several share."""
    folders = [_HERE, *(entry.path for entry in os.scandir(_KINDS) if entry.is_dir())]
    return {
        name[:-5]: os.path.join(folder, name)
        for folder in folders
        for name in os.listdir(folder)
        if name.endswith(".json")
    }


def schema_kinds() -> list[str]:
    """The names of all schemas, sorted."""
    return sorted(schema_files())


def schema(kind: str) -> dict[str, Any]:
    """The schema of documents of `kind`.

    Raises
    ------
    UnknownNameError
        There is no such kind; the message lists those that there are.
    """
    path = schema_files().get(kind)
    if path is None:
        known = ", ".join(schema_kinds())
        raise UnknownNameError(f"There is no schema for {kind!r}. Known: {known}.", field="kind")
    with open(path, encoding="utf-8") as file:
        return json.load(file)
