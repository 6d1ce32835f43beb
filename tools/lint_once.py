"""Keeps one way of compiling each file in a compilation database, for the linter.

    python tools/lint_once.py build/tidy/compile_commands.json

Parts that share a source name it again, and each time it would be linted anew. Ways that define
other things, or are for another machine, stay.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

_MEANS_OTHER_CODE = ("-D", "-U", "-m", "-std", "-include")


def kept(commands: list[dict[str, str]]) -> list[dict[str, str]]:
    """The first of the commands that compile a file to the same code."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for command in commands:
        words = [word for word in shlex.split(command["command"]) if word != "-MD"]
        flags = sorted(word for word in words if word.startswith(_MEANS_OTHER_CODE))
        found.setdefault((command["file"], *flags), command)
    return list(found.values())


def main() -> None:
    """Rewrite the database."""
    path = Path(sys.argv[1])
    path.write_text(json.dumps(kept(json.loads(path.read_text())), indent=1))


if __name__ == "__main__":
    main()
