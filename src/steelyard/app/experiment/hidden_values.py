"""Values that were hidden where an experiment file was shown, and have not been written anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from steelyard.core.masking import MASK

# By itself, as a value, or as a password in an address; `dir/***` is a pattern of rsync.
_HIDDEN = re.compile(rf"(?:^|[\s=:\"']){re.escape(MASK)}(?:$|[\s@\"'&;,}}])")
_NAMES = ("command", "environment", "build", "prepare", "cleanup", "setup")


def hidden_field(benchmark: Mapping[str, Any]) -> str | None:
    """The first field of a benchmark with a hidden value; None where there is none."""
    return next((name for name in _NAMES if _is_hidden(benchmark.get(name))), None)


def _is_hidden(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_hidden, value.values()))
    if isinstance(value, list):
        return any(map(_is_hidden, value))
    return isinstance(value, str) and _HIDDEN.search(value) is not None
