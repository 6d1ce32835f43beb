"""Where the program is that a command names, and why it cannot be run where it cannot."""

from __future__ import annotations

import os
import shlex
import shutil

from steelyard.core.errors import UsageError


def program_path(name: str) -> str:
    """The path of the program `name`: itself where it has a slash, else looked up in ``PATH``.

    Raises
    ------
    UsageError
        There is none of that name, or it may not be executed.
    """
    if "\0" in name:
        raise UsageError(f"{name!r} cannot be the name of a program.", field="command")
    found = shutil.which(name)
    if found is not None:
        return found
    raise UsageError(_reason(name), field="command")


def _reason(name: str) -> str:
    is_path = os.path.dirname(name) != ""
    if os.path.isdir(name) and is_path:
        return f"{name!r} is a directory, not a program."
    if os.path.exists(name) and is_path:
        return f"{name!r} may not be executed. If it is a program: chmod +x {shlex.quote(name)}"
    if os.access(name, os.X_OK) and os.path.isfile(name):
        return f"There is no program {name!r} in the PATH. The one in this folder is ./{name}."
    return f"There is no program {name!r}" + ("." if is_path else " in the PATH.")
