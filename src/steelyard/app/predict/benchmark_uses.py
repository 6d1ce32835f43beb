"""What benchmarks do in a program, from files of profilers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

from steelyard.core.decoding import DECODING_FAULTS, regular_opener
from steelyard.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from steelyard.predict.commits.benchmark_use import BenchmarkUse
    from steelyard.predict.commits.program_code import ProgramCode

# By the object that a function is in, and its name.
_Counts = dict[tuple[str, str], float]
_Addresses = dict[tuple[str, int], float]
# What a profile tells copies of a function by, and functions of one name in several sources.
_APART = re.compile(r" \[[^\]]*\]$")


def read_uses(given: Sequence[str], code: ProgramCode) -> list[BenchmarkUse]:
    """The benchmarks of ``NAME=FILE`` options, of what they do in one program.

    FILE is of callgrind, or a document of the kind ``profile``, whose samples stand for
    instructions.

    Raises
    ------
    UsageError, DataError
        An option is not of that form, a name comes twice, or a file is none of these.
    """
    found: dict[str, BenchmarkUse] = {}
    # Of many functions that takes a while, and most profiles have linkers' names.
    written = cache(lambda: _written_names(code))
    for text in given:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise UsageError(
                f"--use {text}: want NAME=FILE, a benchmark and its profile.", field="--use"
            )
        if name in found:
            raise UsageError(f"--use {text}: {name} is named twice.", field="--use")
        found[name] = _read_use(name, path, code, written)
    return list(found.values())


def _read_use(
    name: str, path: str, code: ProgramCode, written: Callable[[], Mapping[str, str]]
) -> BenchmarkUse:
    from steelyard.predict.commits.benchmark_use import BenchmarkUse

    if _begins_as_json(path):
        instructions, calls, misses, addresses = _samples(path), _Counts(), _Counts(), _Addresses()
    else:
        instructions, calls, misses, addresses = _callgrind(path)
    instructions, calls, misses = (
        _linked(one, code, written) for one in (instructions, calls, misses)
    )
    inside = _object_of(instructions, code)
    outside = sum(count for (one, _), count in instructions.items() if one != inside)
    return BenchmarkUse(
        name,
        _within(instructions, inside),
        _within(calls, inside),
        _within(misses, inside),
        outside,
        {address: count for (one, address), count in addresses.items() if one == inside},
    )


def _begins_as_json(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=regular_opener) as file:
            return file.read(64).lstrip().startswith("{")
    except OSError as error:
        raise DataError(
            f"The profile {path} cannot be read: {error.strerror}.", field="--use"
        ) from None


def _callgrind(path: str) -> tuple[_Counts, _Counts, _Counts, _Addresses]:
    from steelyard.profile.callgrind_file import read_callgrind

    profile = read_callgrind(path)
    calls: _Counts = {}
    for (_caller, callee), count in profile.calls.items():
        calls[callee] = calls.get(callee, 0) + count
    return profile.instructions, calls, profile.misses, profile.at_addresses


def _samples(path: str) -> _Counts:
    try:
        with open(path, encoding="utf-8", opener=regular_opener) as file:
            document: Mapping[str, Any] = json.load(file)
        if document["kind"] != "profile":
            raise ValueError("kind")
        found: _Counts = {}
        for one in document["functions"]:
            place = str(one["object"]), _APART.sub("", str(one["name"]))
            count = float(one["samples"])
            if not 0 <= count < inf:
                raise ValueError("samples")
            found[place] = found.get(place, 0.0) + count
    except DECODING_FAULTS:
        raise DataError(
            f"{path} is neither a file of callgrind nor a profile.\nA profile is written by "
            "`steelyard profile report FILE --json PROFILE`.",
            field="--use",
        ) from None
    return found


def _linked(
    counts: _Counts, code: ProgramCode, written: Callable[[], Mapping[str, str]]
) -> _Counts:
    """The same by the names that the linker knows, where a profile has those of programmers."""
    if all(name in code.places for _, name in counts):
        return counts
    found: _Counts = {}
    for (one, name), count in counts.items():
        linked = name if name in code.places else written().get(name, name)
        found[one, linked] = found.get((one, linked), 0.0) + count
    return found


def _written_names(code: ProgramCode) -> dict[str, str]:
    """Linkers' names by those of programmers; of several with one the first."""
    from steelyard.profile.symbols.demangling import readable_name

    found: dict[str, str] = {}
    for name in code.places:
        if name.startswith(("_Z", "_R", "__")):
            found.setdefault(readable_name(name.encode("utf-8", "surrogateescape")), name)
    return found


def _object_of(counts: _Counts, code: ProgramCode) -> str:
    """The file that most functions of a program were seen in."""
    common: dict[str, int] = {}
    for one, name in counts:
        common[one] = common.get(one, 0) + (name in code.places)
    return max(common, key=lambda one: common[one], default="")


def _within(counts: _Counts, inside: str) -> dict[str, float]:
    return {name: count for (one, name), count in counts.items() if one == inside}
