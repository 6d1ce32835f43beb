"""py-spy: reads the stacks of a Python program from outside, at a fixed rate."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence

from steelyard.core.errors import MissingCapabilityError
from steelyard.profile.folded_stacks import read_folded
from steelyard.profile.profilers import Launch, Profiler, Reading
from steelyard.profile.python_command import function_name, script_index

# The default of 100 leaves a short program with few samples; more often py-spy falls behind.
_RATE_PER_S = "500"
# What a sample without any frame of Python is written as.
_OUTSIDE = "[outside Python]"
# ``main (program.py:3)``: the line is the function's first, or the current one.
_FRAME = re.compile(r"(?P<name>.+) \((?P<file>[^()]*?)(:\d+)?\)$")


def _program() -> str | None:
    """Beside this interpreter, as pip installs it, or in the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy")


def _require(argv: Sequence[str]) -> None:
    if _program() is None:
        raise MissingCapabilityError(
            "The profiler py-spy is not installed. `python3 -m pip install py-spy` installs it.",
            field="--profiler",
        )
    if argv:
        script_index(argv)


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    options = ("-o", path, "-f", "raw", "-F", "-r", _RATE_PER_S)
    return Launch((_program() or "py-spy", "record", *options, "--", *argv))


def _named(frame: str) -> str:
    found = _FRAME.match(frame)
    if found is None:
        return frame
    # From Python 3.11 on with what it is defined in, of which other profilers know nothing.
    return function_name(found["name"].rpartition(".")[2], found["file"])


def _names(stack: str) -> list[str]:
    return [_named(frame) for frame in (stack or _OUTSIDE).split(";")]


def _read(path: str, _: Sequence[str]) -> Reading:
    return read_folded(path, "a profile of py-spy in its raw format", _names)


EXTENSION = Profiler(
    "py-spy", "samples at a fixed rate, from outside", "python", _require, _launch, _read
)
