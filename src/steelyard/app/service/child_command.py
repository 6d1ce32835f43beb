"""Commands of this Steelyard that a service or a worker starts, and that end with it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Mapping

from steelyard.build.build_exchange import know_failures, write_failures

_PARENT, _FILES = "STEELYARD_CHILD_OF", "STEELYARD_CHILD_FILES"
_FAILED_BUILDS = "STEELYARD_CHILD_FAILED_BUILDS"
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


def known_failures(directory: str, failures: Mapping[str, str]) -> dict[str, str]:
    """Variables for `child_environment`: builds that have failed elsewhere, by their keys with why,
    which go into a file in `directory`. The command does not try them, and what it runs does not
    see the variable."""
    if not failures:
        return {}
    path = os.path.join(os.path.abspath(directory), "failed-builds.json")
    write_failures(path, failures)
    return {_FAILED_BUILDS: path}


def end_with_parent() -> None:
    """Be sent SIGTERM when the parent is gone, and end now where that has happened already."""
    tempfile.tempdir = os.environ.pop(_FILES, None)
    failed_builds = os.environ.pop(_FAILED_BUILDS, None)
    if failed_builds is not None:
        know_failures(failed_builds)
    parent = os.environ.pop(_PARENT, "")
    if not parent.isdigit():
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(parent):
        os.kill(os.getpid(), signal.SIGTERM)
