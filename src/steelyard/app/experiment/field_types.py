"""What fields of experiment files may take, each as a node of a JSON Schema with its words.

`description` is what follows 'it takes' in messages, and what the documentation's table says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Node = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """One field of a table.

    Parameters
    ----------
    name : str
    takes : mapping
        A node of a JSON Schema, draft 2020-12.
    note : str
        What the documentation adds to the node's description, in Markdown.
    is_required : bool
    """

    name: str
    takes: Node
    note: str = ""
    is_required: bool = False


@dataclass(frozen=True)
class Table:
    """One kind of table of experiment files.

    Parameters
    ----------
    name : str
    fields : tuple of Field
    about : str
        What one of the tables is, where there may be several (``[[name]]``); else empty.
    least_count : int
        How many of them a file has at least.
    either : tuple of str
        Fields of which each table has exactly one.
    others : mapping or None
        What fields of other names take; None: there are none.
    """

    name: str
    fields: tuple[Field, ...]
    about: str = ""
    least_count: int = 0
    either: tuple[str, ...] = ()
    others: Node | None = None

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of the fields, in their order."""
        return tuple(field.name for field in self.fields)

    def schema(self) -> dict[str, Any]:
        """The schema of the table, or of the list of the tables."""
        if not self.about:
            return {"description": f"a table: write [{self.name}]", **self._of_one()}
        several: dict[str, Any] = {
            "description": f"tables: write [[{self.name}]] above each",
            "type": "array",
        }
        if self.least_count:
            several["minItems"] = self.least_count
        return {**several, "items": {"description": self.about, **self._of_one()}}

    def _of_one(self) -> dict[str, Any]:
        required = [field.name for field in self.fields if field.is_required]
        found: dict[str, Any] = {"type": "object"}
        if required:
            found["required"] = required
        found["properties"] = {field.name: dict(field.takes) for field in self.fields}
        found["additionalProperties"] = False if self.others is None else dict(self.others)
        if self.either:
            found["oneOf"] = [{"required": [name]} for name in self.either]
        return found


def text(description: str = "text") -> Node:
    """Text that is not empty."""
    return {"description": description, "type": "string", "minLength": 1}


def text_or_number(description: str) -> Node:
    """Text that is not empty, or a number: a share, a time."""
    return {"description": description, "type": ["string", "number"], "minLength": 1}


def scalar(description: str) -> Node:
    """Text, a number, or true and false."""
    return {"description": description, "type": ["string", "number", "boolean"]}


def flag() -> Node:
    """True or false."""
    return {"description": "true or false", "type": "boolean"}


def whole(minimum: int, description: str = "", maximum: int | None = None) -> Node:
    """A whole number within limits."""
    to = "on" if maximum is None else f"to {maximum}"
    limits = {"minimum": minimum} if maximum is None else {"minimum": minimum, "maximum": maximum}
    said = description or f"a whole number from {minimum} {to}"
    return {"description": said, "type": "integer", **limits}


def choice(description: str, *values: str) -> Node:
    """One of some words."""
    return {"description": description, "enum": list(values)}


def list_of(description: str, item: Node, least_count: int = 0, **limits: Any) -> Node:
    """A list."""
    least = {"minItems": least_count} if least_count else {}
    return {"description": description, "type": "array", **least, "items": dict(item), **limits}


def mapping_of(description: str, item: Node, **limits: Any) -> Node:
    """A table with names of the user's own."""
    return {
        "description": description,
        "type": "object",
        **limits,
        "additionalProperties": dict(item),
    }


def inner(description: str, *fields: Field) -> Node:
    """A table within the table."""
    required = [field.name for field in fields if field.is_required]
    return {
        "description": description,
        "type": "object",
        **({"required": required} if required else {}),
        "properties": {field.name: dict(field.takes) for field in fields},
        "additionalProperties": False,
    }


def anything(description: str) -> Node:
    """What is read where it is used, which says what it takes."""
    return {"description": description}
