"""How long tests wait for what should come: what never comes fails then, and nothing else does."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable
from typing import IO, TypeVar

# Far more than a busy machine takes, and less than `faulthandler_timeout`, which ends a run's
# worker: who waits says what did not come.
PATIENCE_S = 300.0
_LOOK_EVERY_S = 0.01
Found = TypeVar("Found")


def awaited(look: Callable[[], Found], process: subprocess.Popen[bytes] | None = None) -> Found:
    """What `look` gives, once that is something; nothing within `PATIENCE_S` fails the test.

    So does the end of `process`, by which it should come.
    """
    deadline_s = time.monotonic() + PATIENCE_S
    while not (found := look()):
        if process is not None:
            assert process.poll() is None, said_by(process)
        assert time.monotonic() < deadline_s, f"it did not come in {PATIENCE_S:g} s"
        time.sleep(_LOOK_EVERY_S)
    return found


def line_of(process: subprocess.Popen[bytes], stream: str = "stdout") -> bytes:
    """The next line that a process writes; where none comes it is killed, and the test fails.

    What follows the line is left to whoever reads next: nothing of it is kept in a buffer.
    """
    source: IO[bytes] = getattr(process, stream)
    descriptor = source.fileno()
    deadline_s = time.monotonic() + PATIENCE_S
    line = b""
    while not line.endswith(b"\n"):
        left_s = max(0.0, deadline_s - time.monotonic())
        if not select.select([descriptor], [], [], left_s)[0]:
            process.kill()
            raise AssertionError(f"no line came in {PATIENCE_S:g} s, but {line!r}")
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
    return line


def said_by(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What a process writes until it ends; one that does not end is killed, and fails the test."""
    try:
        return process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
