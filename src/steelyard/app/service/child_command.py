"""Commands of this Steelyard that a service or a worker starts, and that end with it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile

_PARENT, _FILES = "STEELYARD_CHILD_OF", "STEELYARD_CHILD_FILES"
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
# What Python runs for `steelyard`, wherever its console script lies.
_PROGRAM = (
    "from steelyard.app.service.child_command import end_with_parent; end_with_parent(); "
    "from steelyard.cli.start import main; main()"
)


def child_command(*words: str) -> list[str]:
    """The argv of a command that ends when its parent does, however that ends."""
    return [sys.executable, "-P", "-c", _PROGRAM, *words]


def child_environment(**changes: str) -> dict[str, str]:
    """The environment of such a command."""
    return {**os.environ, _PARENT: str(os.getpid()), **changes}


def files_in(directory: str) -> dict[str, str]:
    """Variables for `child_environment`: temporary files of the command itself lie in a directory
    that its parent takes away, even if the command is killed. `TMPDIR` of what it runs stays."""
    return {_FILES: os.path.abspath(directory)}


def end_with_parent() -> None:
    """Be sent SIGTERM when the parent is gone, and end now where that has happened already."""
    tempfile.tempdir = os.environ.pop(_FILES, None)
    parent = os.environ.pop(_PARENT, "")
    if not parent.isdigit():
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(parent):
        os.kill(os.getpid(), signal.SIGTERM)
