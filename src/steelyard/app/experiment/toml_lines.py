"""On which line of a TOML file a field stands, for messages: the parser does not say."""

from __future__ import annotations

import re

from steelyard.core.decoding import regular_opener

_HEADER = re.compile(r"\s*(?P<open>\[\[?)\s*(?P<name>[^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"\s*(?P<name>[A-Za-z0-9_-]+|\"[^\"]+\")\s*[=.]")


class TomlLines:
    """The lines of tables and of their keys; good enough to point a person to the place.

    A table of an array has its number in its name, as in ``factor[1]``.
    """

    def __init__(self, text: str) -> None:
        self._tables: dict[str, int] = {"": 1}
        self._keys: dict[tuple[str, str], int] = {}
        counts: dict[str, int] = {}
        table = ""
        for number, line in enumerate(text.splitlines(), 1):
            header = _HEADER.match(line)
            if header:
                table = header["name"]
                if header["open"] == "[[":
                    index = counts.get(table, 0)
                    counts[table] = index + 1
                    table = f"{table}[{index}]"
                self._tables.setdefault(table, number)
                continue
            key = _KEY.match(line)
            if key:
                self._keys.setdefault((table, key["name"].strip('"')), number)

    def line_of(self, table: str, key: str) -> int | None:
        """The line of a key; of its table where it is missing there; None where both are."""
        if (table, key) in self._keys:
            return self._keys[table, key]
        if not table:
            return next(
                (line for name, line in self._tables.items() if name.split("[")[0] == key),
                None,
            )
        return self._tables.get(table)


def field_place(path: str, table: str, name: str) -> str:
    """A field of a file for a message: the file, its line where the file can be read, the field."""
    try:
        with open(path, encoding="utf-8-sig", opener=regular_opener) as file:
            line = TomlLines(file.read()).line_of(table, name)
    except (OSError, UnicodeDecodeError):
        line = None
    where = f"{path}, line {line}" if line else path
    return f"{where}: {table}.{name}"
