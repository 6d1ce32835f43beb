"""The functions that a just-in-time compiler made, by the map it writes for profilers.

The format is that of Linux perf: ``/tmp/perf-PID.map`` with a line ``START SIZE NAME`` for each
function, numbers hexadecimal (tools/perf/Documentation/jit-interface.txt of the kernel).
"""

from __future__ import annotations

import os
from contextlib import suppress

import numpy as np

from steelyard.profile.symbols.elf_symbols import NO_SYMBOLS, Aliases, Symbols

_LAST_ADDRESS = 2**64 - 1


def perf_map_path(process: int) -> str:
    """Where a process writes its map, as this process sees it; empty where that cannot be seen.

    A process in another mount namespace (a container) has a folder of its own, and may be called by
    another number there: its map is read through its own root, while it lives. What lies here under
    its number is none of it.
    """
    here = f"/tmp/perf-{process}.map"
    try:
        theirs, ours = (os.stat(f"/proc/{who}/ns/mnt").st_ino for who in (process, "self"))
    except OSError:
        return here
    if theirs == ours:
        return here
    path = f"/proc/{process}/root/tmp/perf-{_innermost_number(process)}.map"
    # A link would be followed from this root and not from theirs.
    return "" if os.path.islink(path) else path


def _innermost_number(process: int) -> int:
    """How a process is called in its own PID namespace: the last of NStgid, proc(5)."""
    with (
        suppress(OSError, ValueError),
        open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file,
    ):
        for line in file:
            if line.startswith("NStgid:"):
                return int(line.split()[-1])
    return process


def read_perf_map(path: str) -> Symbols:
    """The functions of a map; of an address that was used again the last function counts.

    The map has no times, so that the others are its `aliases`: each may have been there.

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
    names: dict[int, dict[bytes, None]] = {}
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
        names.setdefault(start, {})[name.encode()] = None
    starts = np.array(sorted(found), np.uint64)
    sizes = np.array([found[int(start)][0] for start in starts], np.uint64)
    told = [(start, name) for start in sorted(names) for name in names[start]]
    places = np.array([start for start, _ in told], np.uint64)
    aliases = Aliases(places, [name for _, name in told], np.zeros(len(told), bool))
    functions = [found[int(start)][1] for start in starts]
    return Symbols(starts, starts + sizes, functions, (), aliases=aliases)
