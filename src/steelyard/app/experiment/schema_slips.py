"""Where an experiment file does not keep the schema of such files.

Only what that schema uses of JSON Schema (draft 2020-12) is understood here; tests hold both this
and a whole validator to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


class Slip(NamedTuple):
    """A place where a file does not keep the schema.

    `table` is a table's name such as ``factor[1]``, and `field` the key in it, which may go on
    below as in ``power.change``.
    """

    table: str
    field: str
    message: str


def slips(data: dict[str, Any], schema: dict[str, Any]) -> Iterator[Slip]:
    """Every value that is not what its description says.

    Parameters
    ----------
    data : dict
        The decoded file.
    schema : dict
        What `experiment_fields.experiment_schema` gives.
    """
    for place, message in _below(data, schema, ()):
        table, inner = _table_of(place)
        yield Slip(table, inner, message)


_Place = tuple[str | int, ...]


def _below(value: Any, schema: dict[str, Any], place: _Place) -> Iterator[tuple[_Place, str]]:
    if not _keeps(value, schema):
        yield place, f"it takes {schema['description']}, not {_shown(value)}"
        return
    if isinstance(value, dict):
        yield from _below_object(cast("dict[str, Any]", value), schema, place)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _below(item, schema["items"], (*place, index))


def _below_object(
    value: dict[str, Any], schema: dict[str, Any], place: _Place
) -> Iterator[tuple[_Place, str]]:
    known: dict[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield (*place, name), "it is missing"
    ways = [set(way["required"]) for way in schema.get("oneOf", ())]
    if ways and sum(way <= set(value) for way in ways) != 1:
        names = sorted(set().union(*ways))
        yield (*place, names[0]), f"give either {' or '.join(f'`{name}`' for name in names)}"
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            yield from _below(item, known[name], (*place, name))
        elif others is False:
            yield (*place, name), f"there is no such field; known: {', '.join(known)}"
        elif isinstance(others, dict):
            yield from _below(item, cast("dict[str, Any]", others), (*place, name))


def _keeps(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value by itself is of the right type and in range."""
    if "enum" in schema and value not in schema["enum"]:
        return False
    wanted = schema.get("type", [])
    names: list[str] = [wanted] if isinstance(wanted, str) else wanted
    if names and not any(_is_a(value, name) for name in names):
        return False
    if isinstance(value, str):
        found = re.search(schema.get("pattern", ""), value)
        return found is not None and len(value.strip()) >= schema.get("minLength", 0)
    if isinstance(value, dict):
        return len(cast("dict[str, Any]", value)) >= schema.get("minProperties", 0)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        repeated = schema.get("uniqueItems") and len({*map(repr, items)}) < len(items)
        return len(items) >= schema.get("minItems", 0) and not repeated
    return _in_range(value, schema)


def _in_range(value: Any, schema: dict[str, Any]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    # TOML, version 1.0: a whole number has 64 bits. The parser takes any.
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return False
    return (
        value >= schema.get("minimum", value)
        and value <= schema.get("maximum", value)
        and not value <= schema.get("exclusiveMinimum", value - 1)
    )


def _is_a(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _table_of(place: _Place) -> tuple[str, str]:
    """``("factor", 1, "levels", 0)`` as ``factor[1]`` and ``levels``."""
    if len(place) == 1:
        return "", str(place[0])
    table, rest = str(place[0]), place[1:]
    if isinstance(rest[0], int):
        table, rest = f"{table}[{rest[0]}]", rest[1:]
    names = [part for part in rest if isinstance(part, str)]
    return table, ".".join(names)
