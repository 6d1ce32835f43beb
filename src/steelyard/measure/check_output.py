"""Compares what a trial wrote with what it must have written.

The launcher runs this file as the last step of a trial's clean-up, between that trial and the next,
so that comparing disturbs none: ``python -IS check_output.py CHECKS ANSWER [CLEANUP...]``. It
writes where the output differs, if it does, to ANSWER, and so imports the standard library alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_SHOWN_CHARACTERS = 60
_BLOCK_BYTES = 1 << 20


def difference(path: str, check: Mapping[str, Any]) -> str | None:
    """Where the file `path` is not what `check` wants, in a sentence; None where it is.

    Parameters
    ----------
    check : mapping
        The fields of a `core.experiment_spec.OutputCheck`.
    """
    name = check.get("file") or "its output"
    try:
        if check["comparator"] == "sha256":
            return _differing_digest(name, path, check)
        return _differing_line(name, path, check)
    except OSError as error:
        return f"{name} cannot be compared: {error.filename}: {error.strerror}"


def _differing_digest(name: str, path: str, check: Mapping[str, Any]) -> str | None:
    digest, size_bytes = kept_digest(path, check.get("ignore"))
    if digest == check["expected"]:
        return None
    return f"{name} has the SHA-256 {digest} ({size_bytes} bytes), not {check['expected']}"


def kept_digest(path: str, ignore: str | None) -> tuple[str, int]:
    """The SHA-256 of a file without the lines that are ignored, and the size of what is left."""
    digest, size_bytes = hashlib.sha256(), 0
    for block in _kept_bytes(path, ignore):
        digest.update(block)
        size_bytes += len(block)
    return digest.hexdigest(), size_bytes


def _kept_bytes(path: str, ignore: str | None) -> Iterable[bytes]:
    with open(path, "rb") as file:
        if ignore is None:
            while block := file.read(_BLOCK_BYTES):
                yield block
        else:
            pattern = re.compile(ignore.encode())
            yield from (line for line in file if not pattern.search(line))


def _differing_line(name: str, path: str, check: Mapping[str, Any]) -> str | None:
    tolerance_ratio = check.get("tolerance_ratio", 0.0)
    exact = check["comparator"] == "text"
    found, wanted = _lines(path, check), _lines(check["expected"], check)
    for pair in zip_longest(found, wanted, fillvalue=(0, None)):
        (number, line), (_, expected) = pair
        if line is None or expected is None:
            return _ending(name, pair)
        if line == expected or (not exact and _close(line, expected, tolerance_ratio)):
            continue
        return f"{name} differs in line {number}: {_shown(line)}, not {_shown(expected)}"
    return None


def _ending(name: str, pair: Any) -> str:
    (number, line), (wanted_number, expected) = pair
    if line is None:
        return f"{name} ends before line {wanted_number}, {_shown(expected)}"
    return f"{name} goes on with line {number}, {_shown(line)}, where it should have ended"


def _lines(path: str, check: Mapping[str, Any]) -> Iterable[tuple[int, str]]:
    ignore = check.get("ignore")
    pattern = None if ignore is None else re.compile(ignore)
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            kept = line.rstrip("\n")
            if pattern is None or not pattern.search(kept):
                yield number, kept


def _close(line: str, expected: str, tolerance_ratio: float) -> bool:
    """Whether the lines are the same but for numbers that are equal within the tolerance."""
    if _NUMBER.sub("#", line).split() != _NUMBER.sub("#", expected).split():
        return False
    pairs = zip(_NUMBER.findall(line), _NUMBER.findall(expected), strict=True)
    return all(_near(float(one), float(other), tolerance_ratio) for one, other in pairs)


def _near(one: float, other: float, tolerance_ratio: float) -> bool:
    return one == other or abs(one - other) <= tolerance_ratio * max(abs(one), abs(other))


def _shown(line: str) -> str:
    if len(line) > _SHOWN_CHARACTERS:
        line = line[: _SHOWN_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return repr(line)


def main(arguments: list[str]) -> None:
    """Compare, write the answer, and become the clean-up that the variant has, if any."""
    checks = json.loads(arguments[0])
    found = [difference(check["path"], check) for check in checks]
    with open(arguments[1], "w", encoding="utf-8") as answer:
        json.dump([where for where in found if where is not None], answer)
    for check in checks:
        if check.get("file") is not None and os.path.exists(check["path"]):
            os.unlink(check["path"])
    if arguments[2:]:
        os.execvp(arguments[2], arguments[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
