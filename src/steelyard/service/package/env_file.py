"""The file `env` of a package: variables that each of its scripts finds in its environment."""

from __future__ import annotations

import re
import shlex

from steelyard.core.errors import ArchiveError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# These load code into programs that are not the benchmark's, such as its container's.
REFUSED = ("STEELYARD_PADDING",)


def read_env(text: str) -> tuple[tuple[str, str], ...]:
    """The variables of an `env` file: a line ``NAME=value`` each, which ``export`` may precede.

    Values may be quoted as a shell quotes them; nothing is expanded. Empty lines and those that
    begin with ``#`` are passed over.

    Raises
    ------
    ArchiveError
        A line is something else; the message has its number.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        name, value = _variable(bare, number)
        found[name] = value
    return tuple(found.items())


def _variable(line: str, number: int) -> tuple[str, str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = []
    if words[:1] == ["export"]:
        words = words[1:]
    name, equals, value = words[0].partition("=") if len(words) == 1 else ("", "", "")
    if not equals or not _NAME.fullmatch(name) or "\0" in value:
        raise ArchiveError(f"Line {number} of env is {line[:80]!r}; each is to be NAME=value.")
    if name in REFUSED:
        raise ArchiveError(f"Line {number} of env sets {name}, which is Steelyard's own.")
    if "$" in value and "'" not in line:
        raise ArchiveError(
            f"Line {number} of env has {line[:80]!r}, in which nothing is expanded. Write the "
            "value, or 'quote' it."
        )
    return name, value
