"""The functions that a just-in-time compiler made, by the map it writes for profilers.

The format is that of Linux perf: ``/tmp/perf-PID.map`` with a line ``START SIZE NAME`` for each
function, numbers hexadecimal (tools/perf/Documentation/jit-interface.txt of the kernel).
"""

from __future__ import annotations

import os

import numpy as np

from steelyard.profile.symbols.elf_symbols import NO_SYMBOLS, Symbols

_LAST_ADDRESS = 2**64 - 1


def perf_map_path(process: int) -> str:
    """Where a process writes its map."""
    return f"/tmp/perf-{process}.map"


def read_perf_map(path: str) -> Symbols:
    """The functions of a map; of an address that was used again the last function counts.

    Every user may write to the folder of maps: what is no regular file, or no line of a map, counts
    for nothing.
    """
    if not os.path.isfile(path):
        return NO_SYMBOLS
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            # Not `splitlines`: a name may hold what Unicode takes for the end of a line.
            lines = file.read().split("\n")
    except OSError:
        return NO_SYMBOLS
    found: dict[int, tuple[int, bytes]] = {}
    for line in lines:
        words = line.split(None, 2)
        try:
            start, size = int(words[0], 16), int(words[1], 16)
        except (ValueError, IndexError):
            continue
        if start < 0 or size < 0 or start + size > _LAST_ADDRESS:
            continue
        name = words[2] if len(words) > 2 else "?"
        found[start] = (size, name.encode())
    starts = np.array(sorted(found), np.uint64)
    sizes = np.array([found[int(start)][0] for start in starts], np.uint64)
    return Symbols(starts, starts + sizes, [found[int(start)][1] for start in starts], ())
