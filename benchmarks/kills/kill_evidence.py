"""What shows who is the cause of a kill that was not clean: the values, and the processes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

_SHOWN = 4
_STEP_S = 0.25


def differences(before: Any, after: Any, place: str = "") -> list[str]:
    """Where two states differ, as ``place: before -> after``, the first few of each level."""
    found: list[str] = []
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after}, key=str):
            found += differences(before.get(name), after.get(name), f"{place}/{name}")
    elif isinstance(before, Sequence) and isinstance(after, Sequence) and not _is_text(before):
        gone = [one for one in before if one not in after]
        come = [one for one in after if one not in before]
        if gone or come:
            found.append(f"{place}: gone {gone[:_SHOWN]}, come {come[:_SHOWN]}")
    elif before != after:
        found.append(f"{place}: {before!r} -> {after!r}")
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def other_sessions(mark: bytes) -> list[str]:
    """Processes of Steelyard that do not carry `mark` in their environment, with their words."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
            if b"steelyard" in words and mark not in (folder / "environ").read_bytes():
                found.append(f"{folder.name} {words[:80].decode('utf-8', 'replace').strip()}")
    return found


def wait_for(process: Popen[bytes], patience_s: float) -> str:
    """Wait for a process; empty where it ended, else in which state it and its children are.

    Time in which this process could not run is not counted: then the machine was paused, and what
    waits on it proves nothing.
    """
    left_s, lost_s = patience_s, 0.0
    while left_s > 0:
        started_s = time.monotonic()
        with contextlib.suppress(TimeoutExpired):
            process.wait(timeout=_STEP_S)
            return ""
        took_s = time.monotonic() - started_s
        lost_s += max(0.0, took_s - 2 * _STEP_S)
        left_s -= min(took_s, 2 * _STEP_S)
    states = ", ".join(_states(process.pid))
    return f"hung ({states}; {lost_s:.1f} s in which nothing ran here)"


def _states(process: int) -> Iterator[str]:
    folder = Path(f"/proc/{process}")
    with contextlib.suppress(OSError):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        name = (folder / "comm").read_text().strip()
        waits = (folder / "wchan").read_text()
        yield f"{name} {process} {fields[0]}, {fields[11]}+{fields[12]} ticks, in {waits}"
        for child in (folder / "task" / str(process) / "children").read_text().split():
            yield from _states(int(child))
