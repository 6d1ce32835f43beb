"""py-spy: reads the stacks of a Python program from outside, at a fixed rate."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.profile.profilers import Launch, Profiler, Reading, shares_of
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


def _read(path: str, _: Sequence[str]) -> Reading:
    counts: dict[str, float] = {}
    calls: set[tuple[str, str]] = set()
    try:
        with open(path, encoding="utf-8", opener=regular_opener) as file:
            for number, line in enumerate(file, 1):
                stack, space, count = line.rstrip("\n").rpartition(" ")
                if not space or not count.isdigit():
                    raise ValueError(f"line {number} is no stack with its count")
                names = [_named(frame) for frame in (stack or _OUTSIDE).split(";")]
                counts[names[-1]] = counts.get(names[-1], 0) + int(count)
                calls.update(pairwise(names))
    except OSError as error:
        raise DataError(f"The profile {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(
            f"{path} is not a profile of py-spy in its raw format: {error}.", field="profile"
        ) from None
    return Reading(shares_of(counts, path), frozenset(calls))


EXTENSION = Profiler(
    "py-spy", "samples at a fixed rate, from outside", "python", _require, _launch, _read
)
