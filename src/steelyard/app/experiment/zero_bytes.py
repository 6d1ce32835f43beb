"""Text with a zero byte, which no program can be given and no PostgreSQL can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def field_with_zero_byte(tables: Mapping[str, Any]) -> tuple[str, str] | None:
    """The table and the field of an experiment file where such a text stands; None without one."""
    for table, content in tables.items():
        listed = isinstance(content, list)
        for place, row in enumerate(content if listed else [content]):
            where = f"{table}[{place}]" if listed else table
            if not isinstance(row, Mapping):
                if _has_zero_byte(row):
                    return "", table
                continue
            for name, value in row.items():
                if _has_zero_byte(name) or _has_zero_byte(value):
                    return where, name.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return None


def _has_zero_byte(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_zero_byte, [*value.keys(), *value.values()]))
    if isinstance(value, list):
        return any(map(_has_zero_byte, value))
    return isinstance(value, str) and "\0" in value
