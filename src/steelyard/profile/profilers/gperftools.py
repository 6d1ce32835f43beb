"""The CPU profiler of gperftools: a library that is loaded before the program's own.

The file is described in docs/cpuprofile-fileformat.html of gperftools: words of the machine, a
head, a record for each stack with its count, a trailer, then the text of ``/proc/self/maps``.
"""

from __future__ import annotations

import ctypes.util
import os
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise

from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.core.install_hint import install_command
from steelyard.profile.executable import FunctionNames, refuse_gprof_build
from steelyard.profile.profilers import (
    Launch,
    Profiler,
    Reading,
    profile_bytes,
    profile_files,
    shares_of,
)

_SEPARATOR = "_"
_WORD = 8
# Head: 0, words that follow (3), version 0, period in µs, padding.
_HEAD = struct.Struct("<5Q")
_TRAILER = (0, 1, 0)
_DEEPEST = 4096
# Behind the last address, and the last place in a file.
_END = 2**64


def _library() -> str | None:
    return ctypes.util.find_library("profiler")


def _require(argv: Sequence[str]) -> None:
    if _library() is None:
        raise MissingCapabilityError(
            "The profiler gperftools is not installed: there is no library libprofiler. "
            f"`{install_command('libgoogle-perftools4')}` installs it.",
            field="--profiler",
        )
    refuse_gprof_build("gperftools", argv)


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    # Programs that this one starts write to files whose names go on with their numbers.
    path += _SEPARATOR
    others = os.environ.get("LD_PRELOAD")
    libraries = ":".join(filter(None, (_library(), others)))
    return Launch(tuple(argv), {"LD_PRELOAD": libraries, "CPUPROFILE": path})


class _Memory:
    """The files that were mapped, by address; a `ValueError` where one cannot have been."""

    def __init__(self, text: str) -> None:
        self._parts: list[tuple[int, int, int, FunctionNames]] = []
        files: dict[str, FunctionNames] = {}
        for line in text.split("\n"):
            words = line.split(None, 5)
            if len(words) < 6 or "x" not in words[1]:
                continue
            low, high = (int(word, 16) for word in words[0].split("-"))
            offset = int(words[2], 16)
            if not (0 <= low < high <= _END and 0 <= offset <= _END - (high - low)):
                raise ValueError(f"no file can be mapped to {words[0]} from {words[2]} on")
            names = files.setdefault(words[5], FunctionNames(words[5]))
            self._parts.append((low, high, offset, names))
        self._known: dict[int, str] = {}

    def function(self, address: int) -> str:
        name = self._known.get(address)
        if name is None:
            name = self._known[address] = self._lookup(address)
        return name

    def _lookup(self, address: int) -> str:
        for low, high, offset, names in self._parts:
            if low <= address < high:
                return names.at_offset(address - low + offset)
        return "[unknown]"


def _records(data: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each stack with its count, the innermost address first; the last has the count 0, and its
    one address is where the text begins.

    Raises
    ------
    ValueError, struct.error
        The data is of another kind.
    """
    zero, words, version, *_ = _HEAD.unpack_from(data)
    if (zero, version) != (0, 0) or not 3 <= words <= len(data):
        raise ValueError("it does not begin as one")
    at = (words + 2) * _WORD
    while True:
        count, depth = struct.unpack_from("<2Q", data, at)
        if not 0 < depth <= _DEEPEST:
            raise ValueError(f"a stack of {depth} addresses")
        stack = struct.unpack_from(f"<{depth}Q", data, at + 2 * _WORD)
        at += (2 + depth) * _WORD
        if (count, depth, stack[0]) == _TRAILER:
            yield 0, (at,)
            return
        yield count, stack


def _read(path: str, _: Sequence[str]) -> Reading:
    counts: dict[str, float] = {}
    calls: set[tuple[str, str]] = set()
    for part in profile_files(path, _SEPARATOR):
        data = profile_bytes(part)
        try:
            *stacks, end = _records(data)
            memory = _Memory(data[end[1][0] :].decode("utf-8", "replace"))
        except (struct.error, ValueError) as error:
            raise DataError(
                f"{part} is not a profile of gperftools, or was cut off: {error}.", field="profile"
            ) from None
        for count, addresses in stacks:
            # A return address stands behind the call; one byte before it is inside.
            names = [memory.function(at - (index > 0)) for index, at in enumerate(addresses)]
            counts[names[0]] = counts.get(names[0], 0.0) + count
            calls.update((caller, callee) for callee, caller in pairwise(names))
    return Reading(shares_of(counts, path), frozenset(calls))


EXTENSION = Profiler(
    "gperftools", "samples by a timer of its processor time", "native", _require, _launch, _read
)
