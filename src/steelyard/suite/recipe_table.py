"""One table of a TOML file, whose fields are taken one by one; what is left over is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader

T = TypeVar("T")


class Table:
    """A table whose every field is asked for by its name.

    Each method takes a default for a field that may be left out; without one it must be there.

    Parameters
    ----------
    reader : FieldReader
        Knows the file.
    values : mapping
        The fields.
    where : str
        The table's own name; empty for the file's top.
    """

    def __init__(self, reader: FieldReader, values: Mapping[str, Any], where: str) -> None:
        self.reader = reader
        self.values = values
        self.where = where
        self._taken: set[str] = set()

    def named(self, name: str) -> str:
        """A field's whole name."""
        return f"{self.where}.{name}".lstrip(".")

    def wrong(self, name: str, wanted: str, found: Any) -> DataError:
        """The error for a field that is not as wanted."""
        return self.reader.error(self.named(name), wanted, found)

    def has(self, name: str) -> bool:
        """Whether the field is there."""
        return name in self.values

    def _value(self, name: str, default: tuple[Any, ...]) -> Any:
        self._taken.add(name)
        if name in self.values or not default:
            return self.reader.required(dict(self.values), name, self.where)
        return default[0]

    def text(self, name: str, *default: T) -> str | T:
        """A text that is not empty."""
        value = self._value(name, default)
        if name not in self.values:
            return value
        if not self.reader.text(value, self.named(name)):
            raise self.wrong(name, "a text that is not empty", value)
        return value

    def number(self, name: str, *default: T) -> float | T:
        """A finite number that is not negative."""
        value = self._value(name, default)
        return self.reader.number(value, self.named(name)) if name in self.values else value

    def whole(self, name: str, *default: T) -> int | T:
        """A whole number that is not negative."""
        value = self._value(name, default)
        if name in self.values and self.reader.whole(value, self.named(name)) < 0:
            raise self.wrong(name, "0 or above", value)
        return value

    def texts(self, name: str, *default: T) -> tuple[str, ...] | T:
        """A list of texts."""
        value = self._value(name, default)
        if name not in self.values:
            return value
        items = self.reader.sequence(value, self.named(name))
        return tuple(self.reader.text(item, self.named(name)) for item in items)

    def choice(self, name: str, known: Sequence[str]) -> Any:
        """One of a few texts."""
        return self.reader.choice(self._value(name, ()), self.named(name), known)

    def choices(self, name: str, known: Sequence[str], *default: tuple[str, ...]) -> Any:
        """Some of a few texts; at least one, unless there is a default."""
        found = self.texts(name, *default)
        if not found and not default:
            raise self.wrong(name, "a list of " + ", ".join(known), [])
        for item in found:
            self.reader.choice(item, self.named(name), known)
        return found

    def texts_by_name(self, name: str) -> tuple[tuple[str, str], ...]:
        """A table of texts; empty where it is left out."""
        found = self.reader.mapping(self._value(name, ({},)), self.named(name))
        return tuple(
            (key, self.reader.text(value, f"{self.named(name)}.{key}"))
            for key, value in found.items()
        )

    def table(self, name: str, *default: Any) -> Any:
        """A table inside this one. A default of None gives None where it is left out."""
        value = self._value(name, default)
        if value is None:
            return None
        return Table(self.reader, self.reader.mapping(value, self.named(name)), self.named(name))

    def tables(self, name: str) -> list[Table]:
        """A list of tables; empty where it is left out."""
        items = self.reader.sequence(self._value(name, ([],)), self.named(name))
        places = [f"{self.named(name)}[{index}]" for index in range(len(items))]
        return [
            Table(self.reader, self.reader.mapping(item, place), place)
            for item, place in zip(items, places, strict=True)
        ]

    def rest(self) -> dict[str, Any]:
        """All fields that were not asked for."""
        return {name: value for name, value in self.values.items() if name not in self._taken}

    def end(self) -> None:
        """Make sure that there is nothing that nobody asked for.

        Raises
        ------
        DataError
            There is; the message names the field.
        """
        unknown = next(iter(self.rest()), None)
        if unknown is not None:
            known = ", ".join(sorted(self._taken))
            raise DataError(
                f"{self.reader.path}: there is no field {self.named(unknown)!r}. Known here: "
                f"{known}.",
                field=self.named(unknown),
            )
