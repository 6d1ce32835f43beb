"""Which functions the compiler had inlined at an address, by a file's debugging information."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence

from steelyard.profile.symbols import has_debugging_information

_PROGRAMS = ("addr2line", "llvm-addr2line", "llvm-addr2line-19")
_LIMIT_S = 120.0
_UNKNOWN = "??"
_CLONE = " [clone ."


def inlined_at(path: str, addresses: Sequence[int]) -> list[tuple[str, ...]]:
    """For each virtual address of a file the functions inlined there, the inmost first.

    The function that they were inlined into is not among them. Empty for an address without any,
    and for all where the file has no debugging information or nothing here can read it
    (``addr2line``, of the package binutils).
    """
    nothing: list[tuple[str, ...]] = [()] * len(addresses)
    program = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if program is None or not addresses or not has_debugging_information(path):
        return nothing
    asked = "".join(f"{address:#x}\n" for address in addresses)
    try:
        done = subprocess.run(
            [program, "-a", "-f", "-i", "-C", "-e", path],
            input=asked,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return nothing
    found = list(_answers(done.stdout.split("\n")[:-1]))
    return found if len(found) == len(addresses) else nothing


def _answers(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """For each address a line of its own, then two for each function: its name, its source."""
    names: list[str] | None = None
    at = 0
    while at < len(lines):
        if lines[at].startswith("0x"):
            if names is not None:
                yield _inner(names)
            names = []
            at += 1
            continue
        if names is not None:
            names.append(lines[at])
        at += 2
    if names is not None:
        yield _inner(names)


def _inner(names: Sequence[str]) -> tuple[str, ...]:
    if _UNKNOWN in names:
        return ()
    *inner, outer = names
    # gcc tells of a function's clone as if it were inlined into that: it is the outer one itself.
    if inner and inner[-1].startswith(f"{outer}{_CLONE}"):
        inner.pop()
    return tuple(inner)
