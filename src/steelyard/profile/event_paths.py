"""Call paths of events: the recorder that finds them, and the names of what it found.

As a program (``python -m steelyard.profile.event_paths FILE KNOWN [MAP]``) it prints a recorder's
file with names in place of addresses, by a map of paths where registers alone were recorded. That
runs right after a trial, while its files are what they were; what it has looked up once is in the
file KNOWN for the next trials.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.native_program import native_program

if TYPE_CHECKING:
    from steelyard.profile.symbols.elf_symbols import Symbols

READY = "ready\n"
ERROR_MARK = "error: "
_ANONYMOUS = "//anon:"
# Of one trial; the rarest count together as one path without functions.
_MOST_PATHS = 2000

Place = tuple[int, int]
Function = tuple[str, str]


def recorder_path() -> str:
    """The installed recorder.

    Raises
    ------
    MissingCapabilityError
        It was not built.
    """
    return native_program(
        "steelyard-event-recorder",
        "the recorder of call stacks",
        variable="STEELYARD_EVENT_RECORDER",
        field="--stacks",
    )


def check_recorder(options: Sequence[str], field: str = "--stacks") -> None:
    """Try whether the kernel gives call stacks of events, by the options of the recorder.

    Parameters
    ----------
    options : sequence of str
    field : str
        The option that asks for them.

    Raises
    ------
    MissingCapabilityError
        It does not; the message says why.
    """
    words = [recorder_path(), "--process", str(os.getpid()), *options]
    told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    if told != READY:
        reason = told.removeprefix(ERROR_MARK).strip() or "The recorder ended at once."
        raise MissingCapabilityError(
            f"{reason} Leave {field} out to count events without their call paths.",
            field=field,
        )


class KnownNames:
    """Functions at offsets of files, looked up once for all trials of a study.

    Parameters
    ----------
    path : str
        Where they are kept; empty: nowhere.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._known: dict[str, dict[str, list[list[str]]]] = {}
        with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
            self._known = json.load(file)

    def at(self, path: str, offsets: Sequence[int]) -> list[tuple[Function, ...]]:
        """For each offset its function and those that were inlined there, the innermost first."""
        known = self._known.setdefault(_state(path), {})
        new = [offset for offset in offsets if str(offset) not in known]
        if new:
            for offset, functions in zip(new, _looked_up(path, new), strict=True):
                known[str(offset)] = [list(function) for function in functions]
        return [tuple((name, file) for name, file in known[str(offset)]) for offset in offsets]

    def keep(self) -> None:
        """Write them for the next trial; what is not written is looked up again."""
        with suppress(OSError), open(f"{self._path}.new", "w", encoding="utf-8") as file:
            json.dump(self._known, file)
            os.replace(f"{self._path}.new", self._path)


def _state(path: str) -> str:
    """What tells a file from what stands in its place later; of memory nothing is known later."""
    try:
        found = os.stat(path)
    except OSError:
        return path
    return f"{found.st_dev}:{found.st_ino}:{found.st_mtime_ns}:{found.st_size}"


def named_paths(raw: Mapping[str, Any], known: KnownNames, map_path: str = "") -> dict[str, Any]:
    """What a recorder's file tells, with functions in place of addresses.

    Paths by different lines of the same functions are one. A function that the compiler had inlined
    stands in the path where debugging information tells of it. Paths of registers alone are those
    of the map at `map_path`, as `told_keys` gives them.

    Returns
    -------
    dict
        ``functions``: pairs of name and file; ``paths``: kind, count, and indices of functions from
        the outermost to the innermost, none for the paths too rare to be kept; ``events``, ``cut``
        (paths that do not go back to where their thread began) and ``lost``, as counts.
    """
    named = _names(raw, known)
    counts: Counter[tuple[int, tuple[Function, ...]]] = Counter()
    for kind, count, numbers in raw["paths"]:
        inner_first = [function for place in _places(numbers) for function in named[place]]
        counts[kind, tuple(reversed(inner_first))] += count
    kept: Counter[tuple[int, tuple[Function, ...]]] = Counter()
    for place, ((kind, path), count) in enumerate(counts.most_common()):
        kept[kind, path if place < _MOST_PATHS else ()] += count
    index: dict[Function, int] = {}
    paths: list[list[Any]] = [
        [kind, count, [index.setdefault(function, len(index)) for function in path]]
        for (kind, path), count in kept.items()
    ]
    if raw.get("keys"):
        from steelyard.profile.event_keys import told_keys

        paths += told_keys(raw, map_path, named, index)
    told = {name: raw[name] for name in ("events", "cut", "lost")}
    return {"functions": [list(function) for function in index], "paths": paths, **told}


def _places(numbers: Sequence[int]) -> Iterator[Place]:
    return zip(numbers[::2], numbers[1::2], strict=True)


def _names(raw: Mapping[str, Any], known: KnownNames) -> dict[Place, tuple[Function, ...]]:
    offsets: dict[int, set[int]] = {}
    for _, _, numbers in raw["paths"]:
        for file, offset in _places(numbers):
            offsets.setdefault(file, set()).add(offset)
    for _, _, file, offset, *_ in raw.get("keys", ()):
        offsets.setdefault(file, set()).add(offset)
    found: dict[Place, tuple[Function, ...]] = {}
    for file, here in offsets.items():
        ordered = sorted(here)
        for offset, functions in zip(ordered, known.at(raw["files"][file], ordered), strict=True):
            found[file, offset] = functions
    return found


def _looked_up(path: str, offsets: Sequence[int]) -> Iterator[tuple[Function, ...]]:
    import numpy as np

    from steelyard.profile.symbols.code_places import code_places

    symbols = _symbols(path)
    addresses = symbols.virtual_addresses(np.array(offsets, np.uint64))
    shown = "[anonymous memory]" if path.startswith(_ANONYMOUS) else path
    in_file = path.startswith("/")
    for place in code_places(path, symbols, addresses.tolist(), inlined=in_file):
        yield tuple((name, shown) for name in place.names or (_nameless(shown),))


def _symbols(path: str) -> Symbols:
    from steelyard.profile.symbols.elf_symbols import NO_SYMBOLS, read_symbols
    from steelyard.profile.symbols.perf_map import perf_map_path, read_perf_map

    if path.startswith(_ANONYMOUS):
        return read_perf_map(perf_map_path(int(path.removeprefix(_ANONYMOUS))))
    return read_symbols(path) if path.startswith("/") else NO_SYMBOLS


def _nameless(path: str) -> str:
    return f"[{path.rpartition('/')[2].strip('[]')}]"


if __name__ == "__main__":
    names = KnownNames(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as recorded:
        told = named_paths(json.load(recorded), names, "".join(sys.argv[3:4]))
    sys.stdout.write(json.dumps(told))
    names.keep()
