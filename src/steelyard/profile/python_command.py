"""Commands that run a Python program."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from steelyard.core.errors import UsageError

_INTERPRETER = re.compile(r"(python|pypy)[0-9.]*$")
# Options of the interpreter that take the next word: python(1).
_WITH_VALUE = ("-W", "-X")


def script_index(argv: Sequence[str]) -> int:
    """Where in `argv` the script, or ``-m`` with its module, begins.

    Raises
    ------
    UsageError
        It is no command of the form ``python3 [OPTIONS] SCRIPT ...`` or ``python3 -m MODULE ...``.
    """
    if argv and _INTERPRETER.match(os.path.basename(argv[0])):
        at = 1
        while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("-", "-c", "-m"):
            at += 2 if argv[at] in _WITH_VALUE else 1
        if at < len(argv) and argv[at] not in ("-", "-c"):
            return at
    shown = " ".join(argv)[:100]
    raise UsageError(
        f"{shown!r} is no command of the form `python3 SCRIPT ...` or `python3 -m MODULE ...`, "
        "which this profiler needs.",
        field="command",
    )


def function_name(name: str, file: str) -> str:
    """How a Python function is called in every profile: ``name (file.py)``."""
    return f"{name} ({os.path.basename(file)})"
