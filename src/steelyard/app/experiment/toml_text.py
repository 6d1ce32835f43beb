"""An experiment file as text, from its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

_ARRAYS = ("benchmark", "factor", "nuisance", "constraint")


def toml_text(tables: Mapping[str, Any]) -> str:
    """The file whose tables, and lists of tables, are these."""
    lines: list[str] = []
    for name, value in tables.items():
        header = f"[[{name}]]" if name in _ARRAYS else f"[{name}]"
        for table in value if name in _ARRAYS else [value]:
            lines += [header, *(f"{_key(k)} = {_value(v)}" for k, v in table.items()), ""]
    return "\n".join(lines)


def _key(name: str) -> str:
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else _value(name)


def _value(value: Any) -> str:
    """A value as TOML: its basic strings have the escapes of JSON's."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in cast("list[Any]", value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
