"""The last study of each machine, in a file beside the store, for the host's status."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import StoreError
from steelyard.core.private_file import private_opener

_NAME = "host-study.json"
# What makes two machines the same one for a study: another kernel may behave otherwise.
_MACHINE = ("hostname", "cpu_model", "cpu_count", "kernel")


def keep_study(store: str, facts: Mapping[str, Any], document: Mapping[str, Any]) -> None:
    """Keep the document of a study of the machine with these facts; it replaces the last one.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    path = _path(store)
    kept = _read(path)
    kept[_machine(facts)] = dict(document)
    waiting = f"{path}.{os.getpid()}"
    try:
        with open(waiting, "w", encoding="utf-8", opener=private_opener) as file:
            json.dump(kept, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(waiting, path)
    except OSError as error:
        raise StoreError(f"The study cannot be kept in {path}: {error.strerror}.") from None


def kept_study(store: str, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The last study of the machine with these facts; None where there is none."""
    return _read(_path(store)).get(_machine(facts))


def _path(store: str) -> str:
    return os.path.join(os.path.dirname(store), _NAME)


def _machine(facts: Mapping[str, Any]) -> str:
    return " | ".join(str(facts.get(name)) for name in _MACHINE)


def _read(path: str) -> dict[str, Any]:
    """What is kept. A file that is not ours any more is as none: a study can be made again."""
    try:
        with open(path, encoding="utf-8", opener=regular_opener) as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
